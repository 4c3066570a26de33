import { expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { InferenceFrame, JsonObject } from '../../../src/core/events.ts'
import { completionTokens, NO_USAGE, promptTokens } from '../../../src/core/usage.ts'
import { writeResponsesStream } from '../../../src/dialects/responses/write-stream.ts'
import { forReplies, type Recording } from '../../recordings.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'
import { framesOf, isAnswer } from '../recorded.ts'
import { checkStream } from './stream-order.ts'
import { CLOSING, parse, reply, unary } from './written.ts'

/**
 * Recorded replies of every dialect, written in this one, streamed and not: `checkStream` finds them valid, and OpenAI's
 * client reads the text, reasoning, calls, status and usage that the gateway's reader found.
 */

forReplies(['chat', 'cohere', 'converse', 'gemini', 'messages', 'responses'], isAnswer, table)

/** The reply that the client receives next. */
let sent: { sse: string; body: JsonObject } = { sse: '', body: {} }
const client = new OpenAI({
  apiKey: 'none',
  baseURL: 'http://127.0.0.1/v1',
  maxRetries: 0,
  fetch: async (_, init) =>
    JSON.parse(String(init?.body)).stream
      ? new Response(sent.sse, { headers: { 'content-type': 'text/event-stream' } })
      : Response.json(sent.body),
})
const ASKED = { model: 'm', input: 'Hi' }

function table(recordings: readonly Recording[]): void {
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    const { frames, outcome } = await read(recording)
    const closing = { ...CLOSING, finishes: outcome.finishes, usage: outcome.usage ?? NO_USAGE }
    const context = reply({}, { request: parse(ASKED, new Headers({ 'user-agent': 'OpenAI/JS 7.55.0' })) })
    const writer = writeResponsesStream(context)
    const begun = frames.map((each) => writer.write(each)).join('')
    if (outcome.error !== undefined) {
      sent = { sse: begun + writer.fail({ status: 502, message: 'It broke.' }), body: {} }
      expect(checkStream(sent.sse).ending).toBe('failed')
      const response = await client.responses.stream(ASKED).finalResponse()
      expect([String(response.status), response.output_text]).toEqual(['failed', outcome.text])
      return
    }
    const sse = begun + writer.end(closing)
    const { response } = checkStream(sse)
    expect(writer.reply?.()).toEqual(response)

    sent = { sse, body: await unary(frames, context, closing) }
    expectRead(await client.responses.stream(ASKED).finalResponse(), outcome, recording)
    expectRead(await client.responses.create(ASKED), outcome, recording)
    let events = 0
    for await (const event of await client.responses.create({ ...ASKED, stream: true })) {
      expect(event.sequence_number).toBe(events)
      events += 1
    }
    expect(events).toBe(checkStream(sse).events.length)
  })
}

async function read(recording: Recording): Promise<{ frames: InferenceFrame[]; outcome: Outcome }> {
  const frames: InferenceFrame[] = []
  const batches = async function* () {
    for await (const batch of framesOf(recording)) {
      frames.push(...batch)
      yield batch
    }
  }
  return { outcome: await outcomeOf(batches()), frames }
}

/** The independent reader read JSON text as a structure. */
const UNREAD = new Set([
  'perplexity/rllm-with_params_perplexity_sonar_supports_json_schema_response_format_param.http.json',
])

const STATUS = {
  stop: 'completed',
  tool_calls: 'completed',
  length: 'incomplete',
  content_filter: 'incomplete',
  error: 'failed',
}

function expectRead(
  response: OpenAI.Responses.Response,
  outcome: Outcome,
  { expected, file }: Recording,
): void {
  const { output, usage } = response
  expect(response.output_text).toBe(outcome.text)
  if (!UNREAD.has(file)) expect(response.output_text).toBe(expected.text ?? '')
  expect(
    output.flatMap((item) => {
      if (item.type === 'function_call') return [[item.call_id, item.name, item.arguments]]
      return item.type === 'custom_tool_call' ? [[item.call_id, item.name, item.input]] : []
    }),
  ).toEqual(outcome.calls.map(({ id, name, arguments: json }) => [id, name, json || '{}']))
  expect(
    output
      .flatMap((item) => (item.type === 'reasoning' ? [...item.summary, ...(item.content ?? [])] : []))
      .map((part) => part.text)
      .join(''),
  ).toBe(outcome.reasoning)
  expect(
    output
      .flatMap((item) => (item.type === 'message' ? item.content : []))
      .map((part) => (part.type === 'refusal' ? part.refusal : ''))
      .join(''),
  ).toBe(outcome.refusal)
  expect(output.filter(({ type }) => type === 'image_generation_call').length).toBe(outcome.images.length)
  expect(String(response.status)).toBe(STATUS[outcome.finishes[0]?.reason ?? 'error'])
  const tokens = outcome.usage ?? NO_USAGE
  expect(usage).toMatchObject({
    input_tokens: promptTokens(tokens),
    output_tokens: completionTokens(tokens),
    input_tokens_details: { cached_tokens: tokens.cacheReadTokens },
    output_tokens_details: { reasoning_tokens: tokens.reasoningTokens },
  })
}
