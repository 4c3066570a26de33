/** The operations of the specification, with a request for every status that they declare. */
import { objectOf } from '../../../src/http/json.ts'
import { fresh, things } from './things.ts'
import type { Ask, World } from './types.ts'

export type Asked = Omit<Ask, 'method'>
export type Make = (world: World) => Asked | Promise<Asked>

export interface Operation {
  /** As the specification writes it. */
  name: string
  /** The kind of key that may call it. */
  key: 'inference' | 'management' | 'any'
  /** A request that succeeds. */
  ok: Make
  /** By status, requests that are rejected because of their content. */
  refused?: Readonly<Record<number, Make>>
  /** Statuses that are declared and cannot occur, with the reason. */
  never?: Readonly<Record<number, string>>
  /** Declares 429: the requests of a key are limited. */
  isLimited?: boolean
  /** Declares 429 because of the key's own rate limits, for inference. */
  hasRates?: boolean
}

const CHAT = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }
const NO_PROVIDER = 'a record is read from the ledger, without a provider'
const NO_BODY = crypto.randomUUID()
const at =
  (path: string, body?: unknown): Make =>
  () => ({ path, ...(body === undefined ? {} : { body }) })
/** `{}` stands for the id of a thing that exists. */
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
/** A list with an invalid `limit`. */
const badPage = (path: string): Record<number, Make> => ({ 400: at(`${path}?limit=0`) })

export const operations: readonly Operation[] = [
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
      409: 'versions are counted inside the transaction, so that concurrent creations all succeed, without gaps',
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
      403: 'both kinds of key may read their own contents, and others are a 404',
      502: NO_PROVIDER,
      524: NO_PROVIDER,
      529: NO_PROVIDER,
    },
  },
]

export const statusesOf = ({
  key: kind,
  isLimited,
  hasRates,
  refused = {},
  never = {},
}: Operation): number[] =>
  [
    200,
    ...(isLimited === true || hasRates === true ? [429] : []),
    401,
    500,
    ...(kind === 'any' ? [] : [403]),
    ...Object.keys(refused).map(Number),
    ...Object.keys(never).map(Number),
  ].toSorted((a, b) => a - b)
