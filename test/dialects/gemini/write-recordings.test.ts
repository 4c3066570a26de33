import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { completionTokens, promptTokens } from '../../../src/core/usage.ts'
import { forReplies, type Recording } from '../../recordings.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'
import { framesOf, isAnswer } from '../recorded.ts'
import { chunksOf, GENERATION, type Read, read, writtenReply, writtenStream } from './written.ts'

/** Every recording of every dialect, written in this one: events, list and body carry the provider's answer. */

forReplies(['chat', 'messages', 'gemini', 'cohere', 'converse', 'responses'], isAnswer, table)

function table(recordings: Recording[]): void {
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    const outcome = await outcomeOf(framesOf(recording))
    const text = sameIds(await writtenStream(framesOf(recording)))
    const list = sameIds(await writtenStream(framesOf(recording), 'list'))
    const entries: JsonObject[] = JSON.parse(list)
    expect(entries.slice(0, -1)).toEqual(chunksOf(text).slice(0, -1))
    if (outcome.error !== undefined) {
      for (const last of [chunksOf(text).at(-1), entries.at(-1)]) {
        expect(Object.keys(last ?? {})[0]).toBe('error')
        expect(last).toMatchObject({ error: { code: 502, status: 'UNAVAILABLE' } })
      }
      // A broken-off answer never looks complete, and has no calls that a client would execute.
      expect(text).not.toContain('"finishReason"')
      if (recording.api !== 'gemini') expect(text).not.toContain('"functionCall"')
      return
    }
    const chunks = chunksOf(text)
    expect(entries).toEqual(chunks)
    for (const chunk of chunks)
      expect(chunk).toMatchObject({ responseId: GENERATION, modelVersion: 'acme/large' })
    const ends = chunks.filter((chunk) => JSON.stringify(chunk).includes('"finishReason"'))
    expect(ends.length).toBeLessThanOrEqual(1)
    if (ends.length === 1) expect(ends[0]).toBe(chunks.at(-1))
    expectAnswer(read(chunks), outcome, recording)
    expectAnswer(read([await writtenReply(framesOf(recording))]), outcome, recording)
  })
}

const FINISHES: Readonly<Record<string, RegExp>> = {
  stop: /^(STOP|OTHER|LANGUAGE|NO_IMAGE|MALFORMED_FUNCTION_CALL)$/,
  length: /^MAX_TOKENS$/,
  tool_calls: /^(STOP|MALFORMED_FUNCTION_CALL)$/,
  content_filter: /^(SAFETY|RECITATION|MODEL_ARMOR|PROHIBITED_CONTENT|BLOCKLIST|SPII|IMAGE_SAFETY)$/,
}

function expectAnswer(reply: Read, outcome: Outcome, { api }: Recording): void {
  const isOwn = api === 'gemini'
  expect(reply.text).toBe(outcome.text + outcome.refusal)
  // Thoughts of other providers that are only in details are carried, not shown.
  if (outcome.reasoning !== '') expect(reply.thoughts).toBe(outcome.reasoning)
  const parsable = outcome.calls.filter(({ arguments: json }) => isObjectText(json))
  if (!isOwn) {
    expect(reply.calls.map(({ id, name }) => [sameId(String(id)), name])).toEqual(
      parsable.map(({ id, name }) => [sameId(id), name]),
    )
    expect(reply.calls.map(({ args }) => args)).toEqual(
      parsable.map(({ arguments: json }) => JSON.parse(json || '{}')),
    )
  }
  expect(reply.media.length).toBeGreaterThanOrEqual(outcome.images.length)
  if (outcome.annotations.length > 0 && isOwn) expect(reply.hasGrounding).toBe(true)
  const [finish] = outcome.finishes
  if (isOwn && reply.blocked === undefined) expect(reply.finish).toBe(finish?.native)
  else if (reply.blocked === undefined)
    expect(String(reply.finish)).toMatch(FINISHES[finish?.reason ?? ''] ?? /^$/)
  else expect(finish?.reason).toBe('content_filter')
  const { usage } = outcome
  if (usage === null) return
  const tools = Number(reply.usage['toolUsePromptTokenCount'] ?? 0)
  expect(Number(reply.usage['promptTokenCount']) + tools).toBe(promptTokens(usage))
  expect(reply.usage['totalTokenCount']).toBe(promptTokens(usage) + completionTokens(usage))
  expect(reply.usage['thoughtsTokenCount'] ?? 0).toBe(usage.reasoningTokens)
  expect(reply.usage['cachedContentTokenCount'] ?? 0).toBe(usage.cacheReadTokens)
}

/** Generated ids differ each time a reply is read. */
const sameId = (id: string): string => id.replace(/^call_[0-9a-f]{32}$/, 'made')
const sameIds = (text: string): string => text.replaceAll(/"call_[0-9a-f]{32}"/g, '"made"')

/** A truncated call, or one whose arguments are not an object, is reported as malformed. */
function isObjectText(json: string): boolean {
  if (json.trim() === '') return true
  try {
    const value: unknown = JSON.parse(json)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}
