/** The public SDK of the same API, unchanged but for its address, through every function in scope. */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as errors from '@openrouter/sdk/models/errors'
import { atomically } from '../../src/db/database.ts'
import { users } from '../../src/db/tables.ts'
import { API_KEY, type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'
import { frames, sse } from '../upstream.ts'
import { type Flow, known, MESSAGES, PIXEL, USER } from './sdk/flow.ts'
import { inferenceFlows } from './sdk/inference-flows.ts'
import { outOfScope } from './sdk/out-of-scope.ts'
import { functionsOf, recording } from './sdk/recorder.ts'
import { settingsFlows } from './sdk/settings-flows.ts'
import { workspaceFlows } from './sdk/workspace-flows.ts'

let gateway: Gateway

const COMPLETION = {
  id: 'up-1',
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'High.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
}
/** The provider's reply to each other path. */
const answers: Record<string, () => Response> = {
  '/v1/embeddings': () =>
    Response.json({
      data: [{ index: 0, embedding: [0.5, 1] }],
      model: 'm',
      usage: { prompt_tokens: 3, total_tokens: 3 },
    }),
  '/v1/rerank': () =>
    Response.json({ results: [{ index: 0, relevance_score: 0.5 }], usage: { total_tokens: 7 } }),
  '/v1/images/generations': () => Response.json({ created: 1, data: [{ b64_json: PIXEL }] }),
  '/v1/audio/speech': () => new Response('sound', { headers: { 'content-type': 'audio/mpeg' } }),
  '/v1/audio/transcriptions': () => Response.json({ text: 'High.', usage: { type: 'duration', seconds: 2 } }),
}
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const body = await request.text()
    if (body.includes('lab/broken')) return new Response(null, { status: 500 })
    if (request.url.endsWith('/chat/completions'))
      return body.includes('"stream":true') ? sse(frames(['High.'])) : Response.json(COMPLETION)
    return answers[new URL(request.url).pathname]?.() ?? new Response(null, { status: 404 })
  },
})

const pricing = {
  prompt: '0.000001',
  completion: '0.000002',
  request: '0',
  image: '0.01',
  audio_second: '0.0001',
  input_character: '0.00001',
}
const model = (id: string, input: string, output: string) => ({
  id,
  pricing,
  architecture: { input_modalities: [input], output_modalities: [output] },
})

beforeAll(async () => {
  gateway = await startGateway({
    listens: true,
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        base_url: `http://127.0.0.1:${upstream.port}/v1`,
        models: [
          {
            id: 'lab/tide',
            pricing,
            architecture: { input_modalities: ['text'], output_modalities: ['text'] },
          },
          { id: 'lab/broken', pricing },
          model('lab/vectors', 'text', 'embeddings'),
          model('lab/judge', 'text', 'rerank'),
          model('lab/paint', 'text', 'image'),
          model('lab/voice', 'text', 'speech'),
          model('lab/ears', 'audio', 'transcription'),
        ],
      },
    ],
  })
  const organization_id = gateway.deps.snapshot.current().organizationId
  await atomically(gateway.database, (tx) => [
    tx
      .insert(users)
      .values({ id: USER, organization_id, name: 'Ada', email: 'ada@sluice.example', role: 'member' }),
  ])
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop(true)
})

const random = (): string => crypto.randomUUID()
const flows: Flow[] = [...workspaceFlows, ...settingsFlows, ...inferenceFlows]

const coveredBy = ({ covers }: Flow): string[] =>
  covers.split('; ').flatMap((room) => {
    const [name, functions = ''] = room.split(': ')
    return functions.split(' ').map((each) => (name === '' ? each : `${name}.${each}`))
  })

describe('a flow through', () => {
  for (const flow of flows) {
    test(flow.name, async () => {
      const { sdk, called } = recording(gateway.url, flow.key())
      await flow.run(sdk, gateway)
      expect([...called].toSorted()).toEqual(coveredBy(flow).toSorted())
    })
  }
})

test('fields that the SDK does not have do not confuse it', async () => {
  const { sdk } = recording(gateway.url, MANAGEMENT_KEY)
  const rate_limits = { requests_per_minute: 5, models: [{ model: 'lab/tide', tokens_per_minute: 9 }] }
  const { hash } = await gateway.makeKey({ rate_limits })
  const made = async (path: string, body: object): Promise<string> => {
    const { data } = await (await gateway.manage('POST', path, { ...body, rate_limits })).json()
    return data.id
  }
  const workspace = await made('/workspaces', { name: 'Rates', slug: 'sdk-rates' })
  const guardrail = await made('/guardrails', { name: 'Rates' })
  expect(known(await sdk.apiKeys.get({ hash })).data.hash).toBe(hash)
  expect(known(await sdk.workspaces.get({ id: workspace })).data.slug).toBe('sdk-rates')
  expect(known(await sdk.guardrails.get({ id: guardrail })).data.name).toBe('Rates')
})

test('each refusal is an error of its kind, with the message of the gateway', async () => {
  const slow = (await gateway.makeKey({ rate_limits: { tokens_per_minute: 1 } })).key
  const sdkWith = (key: string) => recording(gateway.url, key).sdk
  const admin = sdkWith(MANAGEMENT_KEY)
  const rows: [call: () => Promise<unknown>, kind: typeof errors.BadRequestResponseError, says: string][] = [
    [() => sdkWith('x'.repeat(40)).apiKeys.list({}), errors.UnauthorizedResponseError, 'Invalid API key'],
    [
      () => sdkWith(API_KEY).apiKeys.create({ requestBody: { name: 'a' } }),
      errors.ForbiddenResponseError,
      'Only management keys',
    ],
    [() => admin.guardrails.get({ id: random() }), errors.NotFoundResponseError, 'no guardrail'],
    [
      () => admin.apiKeys.create({ requestBody: { name: '' } }),
      errors.BadRequestResponseError,
      'name: must be',
    ],
    [
      () => admin.workspaces.create({ createWorkspaceRequest: { name: 'a', slug: 'Not a slug' } }),
      errors.BadRequestResponseError,
      'slug: must be',
    ],
    [
      () => sdkWith(API_KEY).chat.send({ chatRequest: { model: 'lab/none', messages: MESSAGES } }),
      errors.NotFoundResponseError,
      'lab/none',
    ],
    [
      () => sdkWith(slow).chat.send({ chatRequest: { model: 'lab/tide', messages: MESSAGES } }),
      errors.TooManyRequestsResponseError,
      'may use 1 token a minute',
    ],
    [
      () => sdkWith(slow).beta.responses.send({ responsesRequest: { model: 'lab/tide', input: 'Hi' } }),
      errors.TooManyRequestsResponseError,
      'may use 1 token a minute',
    ],
    [
      () => sdkWith(slow).embeddings.generate({ requestBody: { model: 'lab/vectors', input: 'Hi there' } }),
      errors.TooManyRequestsResponseError,
      'may use 1 token a minute',
    ],
  ]
  for (const [call, kind, says] of rows) {
    const refusal = await call().then(
      () => null,
      (error: unknown) => error,
    )
    expect(refusal).toBeInstanceOf(kind)
    expect(String(refusal)).toContain(says)
  }
})

test('every function of the SDK is covered, or is out of scope for a reason', () => {
  const covered = new Set(flows.flatMap(coveredBy))
  const reasonOf = (name: string): string | undefined =>
    outOfScope.find(([start]) => name === start || name.startsWith(`${start}.`))?.[1]
  const all = functionsOf()
  const lines = all.map(
    (name) =>
      `${covered.has(name) ? 'covered    ' : 'not covered'} ${name}${covered.has(name) ? '' : `: ${reasonOf(name)}`}`,
  )
  console.log(`@openrouter/sdk: ${covered.size} of ${all.length} functions covered\n${lines.join('\n')}`)
  expect(all.filter((name) => !covered.has(name) && reasonOf(name) === undefined)).toEqual([])
  expect([...covered].filter((name) => !all.includes(name) || reasonOf(name) !== undefined)).toEqual([])
})
