/** Clients that refer to items of the last answer without having it stored: the AI SDK's default for OpenAI. */
import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { generateText, isStepCount, streamText, tool } from 'ai'
import { z } from 'zod'
import { startSweeping } from '../../src/bodies/sweep.ts'
import type { JsonObject } from '../../src/core/events.ts'
import { addWorkspace } from '../admin/fixtures.ts'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'
import {
  type Answer,
  chunk,
  DONE,
  type FakeUpstream,
  sse,
  startUpstream,
  USAGE,
  usageChunk,
} from '../upstream.ts'

const CANARY = 'the-tide-turns-at-noon'
const HOUR_MS = 3_600_000
const CALL = { id: 'call_1', type: 'function', function: { name: 'tide', arguments: '{}' } }
const pricing = { prompt: '0.000001', completion: '0.000002' }

let at = Date.now()
let gateway: Gateway
let upstream: FakeUpstream
let foreignKey: string

beforeAll(async () => {
  upstream = startUpstream()
  gateway = await startGateway({
    listens: true,
    now: () => at,
    environment: { DEEPSEEK_API_KEY: 'secret-of-lab', DEEPSEEK_BASE_URL: upstream.baseUrl },
    providers: [
      { slug: 'lab', dialect: 'responses', base_url: upstream.baseUrl, models: [{ id: 'gpt-5.4', pricing }] },
    ],
  })
  foreignKey = (await addWorkspace(gateway)).key
  upstream.on('deepseek-v4-flash', chatProvider)
  upstream.on('gpt-5.4', responsesProvider)
})
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})
beforeEach(() => {
  upstream.seen.length = 0
})

const has = (list: unknown, found: (entry: JsonObject) => boolean): boolean =>
  Array.isArray(list) && list.some(found)

const chatProvider: Answer = ({ body }) => {
  const isSecond = has(body['messages'], ({ role }) => role === 'tool')
  const message = isSecond
    ? { content: 'High tide.' }
    : { content: null, reasoning_content: CANARY, tool_calls: [CALL] }
  const finish = isSecond ? 'stop' : 'tool_calls'
  if (body['stream'] !== true)
    return Response.json({
      id: 'chatcmpl-up',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason: finish }],
      usage: USAGE,
    })
  const deltas = isSecond
    ? [chunk({ content: 'High tide.' })]
    : [chunk({ reasoning_content: CANARY }), chunk({ tool_calls: [{ index: 0, ...CALL }] })]
  return sse([...deltas, chunk({}, finish), usageChunk(), DONE])
}

const responsesProvider: Answer = ({ body }) => {
  const isSecond = has(body['input'], ({ type }) => type === 'function_call_output')
  const text = { type: 'output_text', text: 'High tide.', annotations: [] }
  const output = isSecond
    ? [{ id: 'msg_up', type: 'message', role: 'assistant', status: 'completed', content: [text] }]
    : [
        { id: 'rs_up', type: 'reasoning', summary: [], encrypted_content: 'gAAAA-of-lab' },
        {
          id: 'fc_up',
          type: 'function_call',
          status: 'completed',
          call_id: 'call_1',
          name: 'tide',
          arguments: '{}',
        },
      ]
  const response = {
    id: 'resp_up',
    object: 'response',
    created_at: 1,
    status: 'completed',
    model: 'gpt-5.4',
    output,
    usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15 },
  }
  if (body['stream'] !== true) return Response.json(response)
  const items = output.flatMap((item, output_index) => [
    { type: 'response.output_item.added', output_index, item },
    { type: 'response.output_item.done', output_index, item },
  ])
  const events = [{ type: 'response.created', response }, ...items, { type: 'response.completed', response }]
  return sse(events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`))
}

const loop = (model: string) => ({
  model: createOpenAI({ baseURL: `${gateway.url}/v1`, apiKey: API_KEY })(model),
  prompt: 'When is the tide?',
  stopWhen: isStepCount(4),
  maxRetries: 0,
  tools: {
    tide: tool({ description: 'The tide', inputSchema: z.object({}), execute: async () => '12:00' }),
  },
})
const MODELS = ['deepseek/deepseek-v4-flash', 'gpt-5.4']

test.each(MODELS)('ai, openai(…) as it is, a loop of two steps before %s', async (model) => {
  const { text, steps } = await generateText(loop(model))
  expect({ text, steps: steps.length }).toEqual({ text: 'High tide.', steps: 2 })
  const streamed = streamText(loop(model))
  expect(await streamed.text).toBe('High tide.')
  expect((await streamed.steps).length).toBe(2)
  const seconds = upstream.seen.filter((_, index) => index % 2 === 1).map(({ body }) => JSON.stringify(body))
  expect(seconds).toHaveLength(2)
  // What was thought comes back to who thought it.
  for (const sent of seconds) expect(sent).toContain(model === 'gpt-5.4' ? 'gAAAA-of-lab' : CANARY)
})

const asked = (more: object = {}) => ({
  model: 'gpt-5.4',
  input: 'When?',
  tools: [{ type: 'function', name: 'tide', parameters: { type: 'object', properties: {} } }],
  ...more,
})
const output = { type: 'function_call_output', call_id: 'call_1', output: '12:00' }
const referring = (...ids: string[]) =>
  asked({
    input: [{ role: 'user', content: 'When?' }, ...ids.map((id) => ({ type: 'item_reference', id })), output],
  })
const statusOf = async (body: object, headers?: Record<string, string>): Promise<number> =>
  (await gateway.call('/responses', body, headers)).status
const ask = async (more: object, headers?: Record<string, string>): Promise<void> =>
  expect(await statusOf(asked(more), headers)).toBe(200)
const written = (): Promise<unknown> => gateway.deps.responses.remembered?.close() ?? Promise.resolve()
const rows = (): JsonObject[] =>
  gateway.bodies.file.query<JsonObject, []>('SELECT * FROM remembered_items').all()
const forget = async (): Promise<void> => {
  await written()
  gateway.bodies.file.run('DELETE FROM remembered_items')
}

test('an item is found while it waits and once it is written, sealed, by its own workspace, for an hour', async () => {
  await forget()
  await ask({})
  expect(await statusOf(referring('fc_up', 'rs_up'))).toBe(200)
  await written()
  expect(
    rows()
      .map(({ id }) => String(id).split('/')[1])
      .sort(),
  ).toEqual(['fc_up', 'msg_up', 'rs_up'])
  expect(JSON.stringify(rows().map(({ sealed }) => Buffer.from(Object(sealed)).toString()))).not.toContain(
    'tide',
  )
  expect(await statusOf(referring('fc_up'))).toBe(200)
  expect(await statusOf(referring('fc_up'), { authorization: `Bearer ${foreignKey}` })).toBe(404)
  await written()
  at += HOUR_MS + 1
  expect(await statusOf(referring('fc_up'))).toBe(404)
  const sweeping = startSweeping(gateway.bodies, {
    now: () => at,
    retentionMs: HOUR_MS,
    mostBytes: 0,
    deletedWorkspaces: async () => [],
    onSwept: () => undefined,
    onError: (error) => {
      throw error
    },
  })
  await sweeping.stop()
  expect(rows()).toEqual([])
})

const excluded: [what: string, more: object][] = [
  ['store: false', { store: false }],
  ['zdr', { provider: { zdr: true } }],
  ['data_collection: deny', { provider: { data_collection: 'deny' } }],
]
test.each(excluded)('nothing of a request with %s is remembered', async (_, more) => {
  await forget()
  await gateway.call('/responses', asked(more))
  await written()
  expect(rows()).toEqual([])
  expect(await statusOf(referring('fc_up'))).toBe(404)
})

test('what a key without retention asks is not remembered', async () => {
  await forget()
  const { key } = await gateway.makeGuardedKey({ enforce_zdr: true })
  await gateway.call('/responses', asked(), { authorization: `Bearer ${key}` })
  await written()
  expect(rows()).toEqual([])
})

test('0 minutes: nothing is', async () => {
  const other = await startGateway({
    environment: { SLUICE_RESPONSES_ITEMS_MINUTES: '0' },
    providers: [
      { slug: 'lab', dialect: 'responses', base_url: upstream.baseUrl, models: [{ id: 'gpt-5.4', pricing }] },
    ],
  })
  expect((await other.call('/responses', asked())).status).toBe(200)
  const refused = await other.call('/responses', referring('fc_up'))
  expect(refused.status).toBe(404)
  expect((await refused.json()).error.message).toContain('input[1].id')
  await other.stop()
})
