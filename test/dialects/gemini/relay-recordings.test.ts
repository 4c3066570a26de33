import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import { mergedChunks } from '../../../src/dialects/gemini/chunks.ts'
import { geminiEgress } from '../../../src/dialects/gemini/index.ts'
import { forReplies, type Recording } from '../../recordings.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { outcomeOf } from '../chat/outcome.ts'
import { chunksOf, GENERATION, listOf, writtenReply, writtenStream } from './written.ts'

/**
 * From a provider of the dialect to a caller of it: every field of the recorded reply is in ours, unknown ones included,
 * except for the id, the model and the gateway's fields of usage.
 */

forReplies(['gemini'], ({ api, status }) => api === 'gemini' && status < 300, table)

function table(recordings: Recording[]): void {
  test.each(recordings.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
    const frames = () => geminiEgress.read(upstreamReply(recording.bytes), recording.isStream)
    if ((await outcomeOf(frames())).error !== undefined) return
    const direct = mergedChunks(toldBy(recording))
    expectSame(mergedChunks(chunksOf(await writtenStream(frames()))), direct)
    expectSame(await writtenReply(frames()), direct)
  })
}

function toldBy({ bytes }: Recording): JsonObject[] {
  const text = new TextDecoder().decode(bytes)
  if (!/^\s*data:/.test(text)) {
    const body: unknown = JSON.parse(text)
    return (Array.isArray(body) ? body : [body]).filter(isObject)
  }
  return text.split(/\r\n\r\n|\r\r|\n\n/).flatMap((event) => {
    const chunk: unknown = event.trim() === '' ? null : JSON.parse(event.trim().slice('data:'.length))
    return isObject(chunk) ? [chunk] : []
  })
}

function expectSame(ours: JsonObject, direct: JsonObject): void {
  const { responseId: _, modelVersion: _model, usageMetadata, candidates, ...rest } = direct
  expect(ours).toMatchObject({ ...rest, responseId: GENERATION, modelVersion: 'acme/large' })
  if (isObject(usageMetadata) && usageMetadata['totalTokenCount'] !== undefined) {
    const { candidatesTokenCount: _none, ...expected } = usageMetadata
    expect(ours['usageMetadata']).toMatchObject(expected)
  }
  expect(plain(ours['candidates'])).toEqual(plain(candidates))
}

/** The first candidate's index may be left out, and so may a text that is empty. */
const plain = (candidates: unknown): unknown[] =>
  listOf(candidates)
    .filter(isObject)
    .map(({ index, content, finishReason, ...rest }) => ({
      index: index ?? 0,
      parts: listOf(isObject(content) ? content['parts'] : []).filter(saysSomething),
      finishReason:
        typeof finishReason === 'number' ? 'named' : finishReason === 'STOP' ? 'named' : finishReason,
      ...rest,
    }))

const saysSomething = (part: unknown): boolean =>
  isObject(part) && (part['text'] !== '' || part['thoughtSignature'] !== undefined)
