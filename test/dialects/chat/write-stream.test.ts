import { describe, expect, test } from 'bun:test'
import { type InferenceEvent, type InferenceFrame, plainFrame } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { writeChatStream } from '../../../src/dialects/chat/write-stream.ts'
import { CLOSING, COST } from '../replies.ts'
import { chunksOf, frame, REPLY, SHARED, text } from './chunks.ts'

test('the system fingerprint is on every chunk from the first that has it', () => {
  const native: InferenceEvent = {
    type: 'native',
    dialect: 'chat',
    data: { chunk: { system_fingerprint: 'fp_1' } },
  }
  const fast: InferenceFrame = plainFrame('b', ['b'])
  const writer = writeChatStream(REPLY)
  expect(writer.write(frame(native))).toBe('')
  const chunks = chunksOf(writer.write(frame(text('a'), native)) + writer.write(fast) + writer.end(CLOSING))
  expect(chunks.map((chunk) => (isObject(chunk) ? chunk.system_fingerprint : chunk))).toEqual([
    'fp_1',
    'fp_1',
    'fp_1',
    'fp_1',
    '[DONE]',
  ])
})

test('the end: finish, usage, metadata under both names, [DONE], and nothing after', () => {
  const serviceMetadata = {
    requested: 'acme/large',
    strategy: 'direct',
    summary: 's',
    attempt: 1,
    is_byok: false,
    region: null,
    endpoints: { total: 1, available: [] },
    attempts: [],
  }
  const writer = writeChatStream(REPLY)
  writer.write(frame(text('a')))
  const [finish, usage, done, ...more] = chunksOf(writer.end({ ...CLOSING, serviceMetadata }))
  expect(finish).toEqual({
    ...SHARED,
    choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'end_turn' }],
  })
  expect(usage).toEqual({
    ...SHARED,
    choices: [],
    usage: {
      prompt_tokens: 10,
      completion_tokens: 5,
      total_tokens: 15,
      prompt_tokens_details: { cached_tokens: 3, cache_write_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 1, audio_tokens: 0 },
      ...COST,
    },
    service_tier: 'default',
    service_metadata: serviceMetadata,
    openrouter_metadata: serviceMetadata,
  })
  expect([done, ...more]).toEqual(['[DONE]'])
  expect([
    writer.write(frame(text('b'))),
    writer.end(CLOSING),
    writer.fail({ status: 500, message: '' }),
  ]).toEqual(['', '', ''])
})

test('an empty answer still has a role, and each choice its finish', () => {
  const finishes = [
    { choice: 0, reason: 'stop' as const, native: null },
    { choice: 1, reason: 'length' as const, native: 'max' },
  ]
  const [first, second] = chunksOf(writeChatStream(REPLY).end({ ...CLOSING, finishes }))
  const delta = { role: 'assistant', content: '' }
  expect(first).toMatchObject({ choices: [{ index: 0, delta, finish_reason: 'stop' }] })
  expect(second).toMatchObject({ choices: [{ index: 1, delta, finish_reason: 'length' }] })
})

test('a failure: two chunks with the error, which comes first in each, no [DONE], and nothing after', () => {
  const writer = writeChatStream(REPLY)
  writer.write(frame(text('a')))
  const metadata = { error_type: 'provider_unavailable', provider_name: 'Acme' }
  const sse = writer.fail({ status: 502, message: 'It broke off', metadata })
  const error = { code: 502, message: 'It broke off', metadata }
  const delta = { content: '', annotations: [{ type: 'error' }] }
  expect(chunksOf(sse)).toEqual([
    { ...SHARED, error, choices: [] },
    { ...SHARED, error, choices: [{ index: 0, delta, finish_reason: 'error' }] },
  ])
  const [first, id, last] = sse.split('\n\n')
  expect(first).toStartWith('data: {"error":{')
  expect(id).toMatch(/^id: failed\.[\w-]+$/)
  expect(last).toStartWith('data: {"error":{')
  expect(
    writer.end(CLOSING) + writer.fail({ status: 500, message: '' }) + writer.write(frame(text('b'))),
  ).toBe('')
})

describe('a failure always names its kind', () => {
  const rows: [number, string][] = [
    [400, 'invalid_request'],
    [429, 'rate_limit_exceeded'],
    [500, 'server'],
    [502, 'provider_unavailable'],
    [503, 'provider_overloaded'],
    [524, 'timeout'],
    [529, 'provider_overloaded'],
  ]
  test.each(rows)('%d → %s', (status, errorType) => {
    const error = { code: status, message: 'm', metadata: { error_type: errorType } }
    const chunks = chunksOf(writeChatStream(REPLY).fail({ status, message: 'm' }))
    expect(chunks).toMatchObject([{ error }, { error }])
  })
})

test('the echo of the upstream body', () => {
  const body = { model: 'm', messages: [] }
  expect(chunksOf(writeChatStream(REPLY).echo(body))).toEqual([
    { ...SHARED, choices: [], debug: { echo_upstream_body: body } },
  ])
})

test('text cannot forge an event', () => {
  const evil = 'x\n\ndata: [DONE]\n\n\r\revent: error\r\n\u2028\u2029\u0085: y'
  const writer = writeChatStream({ ...REPLY, providerName: 'Acme' })
  const events: InferenceEvent[] = [
    text(evil),
    { type: 'reasoning-delta', choice: 0, text: evil },
    { type: 'tool-call-start', choice: 0, index: 0, id: evil, name: evil },
    { type: 'native', dialect: 'chat', data: { chunk: { [evil]: evil } } },
  ]
  const [chunk, ...more] = chunksOf(writer.write(frame(...events)))
  expect(more).toEqual([])
  expect(chunk).toMatchObject({ [evil]: evil, choices: [{ delta: { content: evil, reasoning: evil } }] })
})
