import { expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { completionTokens } from '../../../src/core/usage.ts'
import { forReplies, type Recording } from '../../recordings.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'
import { framesOf, isAnswer } from '../recorded.ts'
import { eventsOf, readReply, readStream, writtenReply, writtenStream } from './written.ts'

/** Every recording of every dialect, written in this one and read by Anthropic's client. */

/** Callers of this dialect never get the answer tool: their own schema is forwarded. */
const STAND_IN = /answer-tool/

forReplies(
  ['chat', 'messages', 'gemini', 'cohere', 'converse', 'responses'],
  (recording) => isAnswer(recording) && !STAND_IN.test(recording.file),
  table,
)

function table(recordings: Recording[]): void {
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    const outcome = await outcomeOf(framesOf(recording))
    const text = await writtenStream(framesOf(recording))
    if (outcome.error !== undefined) {
      expect(eventsOf(text).at(-1)).toMatchObject({ type: 'error' })
      await expect(readStream(text)).rejects.toBeInstanceOf(Anthropic.APIError)
      return
    }
    expectOrder(eventsOf(text))
    expectMessage(await readStream(text), outcome, recording)
    expectMessage(await readReply(await writtenReply(framesOf(recording))), outcome, recording)
  })
}

/** Blocks come in order and count from 0; nothing comes after the end. */
function expectOrder(events: readonly Record<string, unknown>[]): void {
  const types = events.map(({ type }) => String(type))
  expect(types.slice(0, 2)).toEqual(['message_start', 'ping'])
  expect(types.slice(-2)).toEqual(['message_delta', 'message_stop'])
  let open: unknown = null
  let next = 0
  for (const { type, index } of events) {
    if (type === 'content_block_start') {
      expect([open, index]).toEqual([null, next++])
      open = index
    } else if (type === 'content_block_delta' || type === 'content_block_stop') {
      expect(index).toBe(open)
      if (type === 'content_block_stop') open = null
    }
  }
  expect(open).toBeNull()
}

/** Finish reasons of the gateway, and those of Anthropic. */
const STOPS: Readonly<Record<string, RegExp>> = {
  stop: /^(end_turn|stop_sequence|pause_turn|refusal)$/,
  length: /^(max_tokens|model_context_window_exceeded)$/,
  tool_calls: /^tool_use$/,
  content_filter: /^refusal$/,
}

function expectMessage(message: Anthropic.Message, outcome: Outcome, { expected, api }: Recording): void {
  const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []))
  const isOwn = api === 'anthropic-messages'
  // A refusal is text; Anthropic's own is beside the stop reason.
  expect(texts.join('')).toBe(outcome.text + (isOwn ? '' : outcome.refusal))
  if (isOwn && outcome.refusal !== '') expect(message.stop_details?.explanation).toBe(outcome.refusal)
  if (expected.text && !isElsewhere(outcome.text, expected.text)) throw new Error('the text is another one')
  const thoughts = message.content.flatMap((block) => (block.type === 'thinking' ? [block.thinking] : []))
  expect([outcome.reasoning, detailedText(outcome)]).toContain(thoughts.join(''))
  const calls = message.content.flatMap((block) => (block.type === 'tool_use' ? [block] : []))
  expect(calls.map(({ id, name }) => [sameId(id), name])).toEqual(
    outcome.calls.map(({ id, name }) => [sameId(id), name]),
  )
  for (const [i, { input }] of calls.entries()) expectInput(input, outcome.calls[i]?.arguments ?? '')
  const [finish] = outcome.finishes
  expect(message.stop_reason).toMatch(STOPS[finish?.reason ?? ''] ?? /^$/)
  if (isOwn && finish?.native) expect(String(message.stop_reason)).toBe(finish.native)
  expectUsage(message.usage, outcome)
}

/** Some providers send thoughts, or further ones, only in details. */
const detailedText = ({ events }: Outcome): string =>
  events
    .flatMap((event) =>
      event.type === 'reasoning-detail' ? [event.detail.text ?? event.detail.summary] : [],
    )
    .join('')

/** Generated ids differ each time a reply is read. */
const sameId = (id: string): string => id.replace(/^call_[0-9a-f]{32}$/, 'made')

/** The text that an independent reader found in the recordings, with some parts that are not text. */
const isElsewhere = (found: string, reported: string): boolean =>
  found === reported || found.includes(reported) || reported.includes(found)

function expectInput(input: unknown, json: string): void {
  let parsed: unknown
  try {
    parsed = json === '' ? {} : JSON.parse(json)
  } catch {
    // Cut by a bound, which the client repairs and the gateway keeps as text; or no JSON but the text of a tool.
    expect(typeof input).toBe('object')
    return
  }
  if (typeof parsed === 'object') expect(input).toEqual(parsed)
}

function expectUsage(usage: Anthropic.Usage, { usage: reported }: Outcome): void {
  if (reported === null) return
  expect(usage.input_tokens).toBe(
    reported.inputTokens + reported.audioInputTokens + reported.imageInputTokens,
  )
  expect(usage.cache_read_input_tokens).toBe(reported.cacheReadTokens)
  expect(usage.cache_creation_input_tokens).toBe(reported.cacheWriteTokens)
  expect(usage.output_tokens).toBe(completionTokens(reported))
  expect(usage.output_tokens_details?.thinking_tokens).toBe(reported.reasoningTokens)
}
