/**
 * Every operation of the specification with every status that it declares: each happens here, or has the reason why it
 * cannot. The API document declares all of them.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import type { Handler } from '../../src/http/edge.ts'
import { objectOf } from '../../src/http/json.ts'
import { createRateLimit } from '../../src/http/rate-limit.ts'
import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { type Ask, fresh, startWorld, things, type World } from './tenancy/world.ts'

type Asked = Omit<Ask, 'method'>
type Make = (world: World) => Asked | Promise<Asked>

interface Operation {
  /** As the specification writes it. */
  name: string
  /** Which kind of key it takes. */
  key: 'inference' | 'management' | 'any'
  /** A request that succeeds. */
  ok: Make
  /** By their status, requests that are refused for their content. */
  refused?: Readonly<Record<number, Make>>
  /** Declared, and cannot happen. */
  never?: Readonly<Record<number, string>>
  /** Declares 429: how often a key may call is limited. */
  isLimited?: boolean
  /** The same by the key's own limits, for inference. */
  hasRates?: boolean
}

const CHAT = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }
const NO_PROVIDER = 'a record is read from the ledger: no provider is asked'
const NO_BODY = crypto.randomUUID()
const at =
  (path: string, body?: unknown): Make =>
  () => ({ path, ...(body === undefined ? {} : { body }) })
/** `{}` stands for a thing that is there. */
const of =
  (thing: { make(world: World, place: World['own']): Promise<string> }, path: string, body?: unknown): Make =>
  async (world) => ({
    path: path.replace('{}', await thing.make(world, world.own)),
    ...(body === undefined ? {} : { body }),
  })
const { content, file, generation, guardrail, key, member, preset, workspace } = things
const members =
  (verb: string): Make =>
  async (world) => ({
    path: `/workspaces/default/members/${verb}`,
    body: { user_ids: [await member.make(world, world.own)] },
  })
const assigning =
  (what: 'keys' | 'members'): Make =>
  async (world) => ({
    path: `/guardrails/${await guardrail.make(world, world.own)}/assignments/${what}`,
    body:
      what === 'keys'
        ? { key_hashes: [await key.make(world, world.own)] }
        : { member_user_ids: [await member.make(world, world.own)] },
  })
/** Who lists what `limit` cannot be. */
const badPage = (path: string): Record<number, Make> => ({ 400: at(`${path}?limit=0`) })

const operations: readonly Operation[] = [
  {
    name: 'POST /chat/completions',
    key: 'inference',
    ok: at('/chat/completions', CHAT),
    refused: { 400: at('/chat/completions', { ...CHAT, messages: [] }) },
    hasRates: true,
  },
  {
    name: 'POST /responses',
    key: 'inference',
    ok: at('/responses', { model: 'sluice/demo', input: 'Hi' }),
    refused: { 400: at('/responses', { model: 'sluice/demo', input: 'Hi', truncation: 'some' }) },
    hasRates: true,
  },
  {
    name: 'POST /keys',
    key: 'management',
    ok: at('/keys', { name: 'made' }),
    refused: { 400: at('/keys', { name: 'made', expires_at: '2030-01-01T00:00:00+02:00' }) },
    isLimited: true,
  },
  {
    name: 'PATCH /keys/{hash}',
    key: 'management',
    ok: of(key, '/keys/{}', { disabled: true }),
    refused: {
      400: of(key, '/keys/{}', { limit_reset: 'yearly' }),
      404: at(`/keys/${key.random()}`, { disabled: true }),
    },
    isLimited: true,
  },
  { name: 'GET /workspaces', key: 'any', ok: at('/workspaces'), refused: badPage('/workspaces') },
  {
    name: 'POST /workspaces',
    key: 'management',
    ok: () => ({ path: '/workspaces', body: { name: 'Made', slug: fresh('made') } }),
    refused: {
      400: at('/workspaces', { name: 'Made' }),
      409: at('/workspaces', { name: 'Made', slug: 'default' }),
    },
  },
  {
    name: 'PATCH /workspaces/{id}',
    key: 'management',
    ok: of(workspace, '/workspaces/{}', { name: 'Changed' }),
    refused: {
      400: of(workspace, '/workspaces/{}', { io_logging_sampling_rate: 0 }),
      404: at('/workspaces/nowhere', { name: 'Changed' }),
    },
  },
  {
    name: 'POST /workspaces/{id}/members/add',
    key: 'management',
    ok: members('add'),
    refused: {
      400: at('/workspaces/default/members/add', { user_ids: [] }),
      404: at('/workspaces/nowhere/members/add', { user_ids: ['user_nobody'] }),
    },
  },
  {
    name: 'POST /workspaces/{id}/members/remove',
    key: 'management',
    ok: members('remove'),
    refused: {
      // Holds an active key in the workspace.
      400: async (world) => {
        const id = await member.make(world, world.own)
        await world.manage('POST', '/keys', { name: 'held', creator_user_id: id })
        return { path: '/workspaces/default/members/remove', body: { user_ids: [id] } }
      },
      404: at('/workspaces/default/members/remove', { user_ids: ['user_nobody'] }),
    },
  },
  {
    name: 'DELETE /workspaces/{id}/budgets/{interval}',
    key: 'management',
    ok: at('/workspaces/default/budgets/monthly'),
    refused: {
      400: at('/workspaces/default/budgets/yearly'),
      404: at('/workspaces/nowhere/budgets/monthly'),
    },
  },
  { name: 'GET /guardrails', key: 'management', ok: at('/guardrails'), refused: badPage('/guardrails') },
  {
    name: 'DELETE /guardrails/{id}',
    key: 'management',
    ok: of(guardrail, '/guardrails/{}'),
    refused: {
      // The default guardrail of a workspace.
      400: async ({ manage }) => {
        const { data } = await manage('GET', '/workspaces/default')
        return { path: `/guardrails/${objectOf(data)['default_guardrail_id']}` }
      },
      404: at(`/guardrails/${NO_BODY}`),
    },
  },
  ...(['keys', 'members'] as const).flatMap((what): Operation[] => {
    const one = `/guardrails/{}/assignments/${what}`
    return [
      {
        name: `GET /guardrails/{id}/assignments/${what}`,
        key: 'management',
        ok: of(guardrail, one),
        refused: { ...badPage(one.replace('{}', NO_BODY)), 404: at(one.replace('{}', NO_BODY)) },
      },
      {
        name: `POST /guardrails/{id}/assignments/${what}`,
        key: 'management',
        ok: assigning(what),
        refused: {
          400: of(guardrail, one, {}),
          404: async (world) => ({ ...(await assigning(what)(world)), path: one.replace('{}', NO_BODY) }),
        },
      },
    ]
  }),
  {
    name: 'GET /guardrails/assignments/keys',
    key: 'management',
    ok: at('/guardrails/assignments/keys'),
    refused: badPage('/guardrails/assignments/keys'),
  },
  { name: 'GET /presets', key: 'any', ok: at('/presets'), refused: badPage('/presets') },
  {
    name: 'GET /presets/{slug}/versions',
    key: 'any',
    ok: of(preset, '/presets/{}/versions'),
    refused: { ...badPage('/presets/any/versions'), 404: at('/presets/nothing/versions') },
  },
  {
    name: 'POST /presets/{slug}/responses',
    key: 'management',
    ok: at('/presets/kept/responses', { temperature: 0.1 }),
    refused: {
      400: at('/presets/kept/responses', { temperature: 3 }),
      404: at(`/presets/kept/responses?workspace_id=${NO_BODY}`, { temperature: 0.1 }),
    },
    never: {
      409: 'versions are counted inside the transaction: creations at once all succeed, without gaps',
    },
  },
  { name: 'GET /files', key: 'any', ok: at('/files'), refused: badPage('/files'), isLimited: true },
  {
    name: 'GET /files/{file_id}',
    key: 'any',
    ok: of(file, '/files/{}'),
    refused: { 404: at(`/files/${file.random()}`) },
    isLimited: true,
  },
  { name: 'GET /models', key: 'any', ok: at('/models'), refused: { 400: at('/models?zdr=false') } },
  { name: 'GET /images/models', key: 'any', ok: at('/images/models') },
  {
    name: 'GET /images/models/{author}/{slug}/endpoints',
    key: 'any',
    ok: at('/images/models/lab/paint/endpoints'),
    refused: { 404: at('/images/models/lab/none/endpoints') },
  },
  { name: 'GET /endpoints/zdr', key: 'any', ok: at('/endpoints/zdr') },
  {
    name: 'GET /observability/destinations',
    key: 'management',
    ok: at('/observability/destinations'),
    refused: badPage('/observability/destinations'),
  },
  {
    name: 'GET /generation',
    key: 'any',
    isLimited: true,
    ok: of(generation, '/generation?id={}'),
    refused: { 400: at('/generation?id='), 404: at(`/generation?id=${generation.random()}`) },
    never: {
      402: 'reading a record costs nothing',
      502: NO_PROVIDER,
      524: NO_PROVIDER,
      529: NO_PROVIDER,
    },
  },
  {
    name: 'GET /generation/content',
    key: 'any',
    isLimited: true,
    ok: of(content, '/generation/content?id={}'),
    refused: {
      400: at('/generation/content?id='),
      // Known, and not logged.
      404: async (world) => {
        await world.manage('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: false })
        return of(generation, '/generation/content?id={}')(world)
      },
    },
    never: {
      403: 'both kinds of key may read what is theirs: the rest is unknown to them',
      502: NO_PROVIDER,
      524: NO_PROVIDER,
      529: NO_PROVIDER,
    },
  },
]

let world: World
let broken: Handler
const fail = (): never => {
  throw new Error('the cause of a failure')
}
beforeAll(async () => {
  world = await startWorld({
    providers: [
      {
        slug: 'lab',
        base_url: 'http://127.0.0.1:9/v1',
        models: [
          { id: 'lab/paint', architecture: { input_modalities: ['text'], output_modalities: ['image'] } },
        ],
      },
    ],
  })
  const { deps } = world.gateway
  broken = createApp({ ...deps, snapshot: { ...deps.snapshot, current: fail } })
})
afterAll(() => world.gateway.stop())

const goodKey = ({ key: kind }: Operation): string => (kind === 'management' ? MANAGEMENT_KEY : API_KEY)
const wrongKey = ({ key: kind }: Operation): string => (kind === 'management' ? API_KEY : MANAGEMENT_KEY)
const methodOf = ({ name }: Operation): string => name.split(' ')[0] ?? ''

/** The status, with the text where it is another one than was wanted. */
async function expectStatus(
  key: string | null,
  operation: Operation,
  make: Make,
  status: number,
): Promise<string> {
  const told = await world.ask(key, { method: methodOf(operation), ...(await make(world)) })
  expect({ status: told.status, text: told.text }).toEqual({ status, text: expect.any(String) })
  if (status < 400) return told.text
  const { code, message } = objectOf(told.json['error'])
  expect({ code, message }).toEqual({ code: status, message: expect.stringMatching(/^.{8,}$/s) })
  return told.text
}

const answerOf = async (handler: Handler, operation: Operation, { path, body }: Asked): Promise<Response> =>
  await handler(
    new Request(`http://localhost/api/v1${path}`, {
      method: methodOf(operation),
      headers: { authorization: `Bearer ${goodKey(operation)}`, 'content-type': 'application/json' },
      body: body === undefined ? null : JSON.stringify(body),
    }),
  )

for (const operation of operations) {
  const { name, ok, refused = {} } = operation
  describe(name, () => {
    test('succeeds', async () => {
      await expectStatus(goodKey(operation), operation, ok, 200)
    })

    test('401 without a key', async () => {
      await expectStatus(null, operation, ok, 401)
    })

    if (operation.key !== 'any') {
      test('403 with a key of the other kind', async () => {
        const text = await expectStatus(wrongKey(operation), operation, ok, 403)
        expect(text).toContain(
          operation.key === 'management' ? 'Only management keys' : 'cannot perform inference',
        )
      })
    }

    for (const [status, make] of Object.entries(refused)) {
      test(`${status} for its content`, async () => {
        await expectStatus(goodKey(operation), operation, make, Number(status))
      })
    }

    if (operation.isLimited === true) {
      test('429 when a key calls too often', async () => {
        const { deps } = world.gateway
        const limited = createApp({ ...deps, rateLimit: createRateLimit({ perMinute: 1, now: deps.now }) })
        const asked = await ok(world)
        expect((await answerOf(limited, operation, asked)).status).toBe(200)
        const response = await answerOf(limited, operation, asked)
        expect([response.status, await response.text()]).toEqual([429, expect.stringContaining('"code":429')])
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
      })
    }

    if (operation.hasRates === true) {
      test("429 beyond the key's own rate", async () => {
        const made = await world.manage('POST', '/keys', {
          name: 'slow',
          rate_limits: { requests_per_minute: 1 },
        })
        const slow = String(made['key'])
        await expectStatus(slow, operation, ok, 200)
        await expectStatus(slow, operation, ok, 429)
      })
    }

    test('500, and nothing of its cause, when something is broken', async () => {
      const asked = await ok(world)
      const response = await answerOf(broken, operation, asked)
      const text = await response.text()
      expect([response.status, text]).toEqual([500, expect.stringContaining('"code":500')])
      expect(text).not.toContain('the cause of a failure')
    })
  })
}

const statusesOf = ({ key: kind, isLimited, hasRates, refused = {}, never = {} }: Operation): number[] =>
  [
    200,
    ...(isLimited === true || hasRates === true ? [429] : []),
    401,
    500,
    ...(kind === 'any' ? [] : [403]),
    ...Object.keys(refused).map(Number),
    ...Object.keys(never).map(Number),
  ].toSorted((a, b) => a - b)

test('the API document declares every one of them', async () => {
  const { paths } = objectOf(await (await world.handler(new Request('http://localhost/openapi.json'))).json())
  const missing = operations.flatMap((operation) => {
    const [method = '', path = ''] = operation.name.split(' ')
    const { responses } = objectOf(objectOf(objectOf(paths)[path])[method.toLowerCase()])
    return statusesOf(operation).flatMap((status) =>
      String(status) in objectOf(responses) ? [] : [`${operation.name} ${status}`],
    )
  })
  expect(missing).toEqual([])
})

/** The specification lies beside the project, and is not part of it. */
const SPECIFICATION = join(import.meta.dir, '../../../shared/spec.md')

test.skipIf(!existsSync(SPECIFICATION))(
  'the table has every operation of the specification, with its statuses',
  () => {
    const chapter = readFileSync(SPECIFICATION, 'utf8')
      .split('\n## Endpoints')[1]
      ?.split('\n## Authentication')[0]
    const told = (chapter ?? '').split(/\n(?=\*\*[A-Z]+ \/)/).slice(1)
    expect(told.length).toBeGreaterThan(25)
    const missing = told.flatMap((text) => {
      const name = /^\*\*([^*]+)\*\*/.exec(text)?.[1] ?? ''
      const errors = /Errors?:? ((?:\d{3}(?:, )?)+)/.exec(text)?.[1] ?? ''
      const operation = operations.find((each) => each.name === name)
      if (operation === undefined) return [name]
      const known = statusesOf(operation)
      return (errors.match(/\d{3}/g) ?? [])
        .filter((status) => !known.includes(Number(status)))
        .map((status) => `${name} ${status}`)
    })
    expect(missing).toEqual([])
  },
)
