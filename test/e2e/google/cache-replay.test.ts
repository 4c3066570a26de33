import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { isObject } from '../../../src/core/json.ts'
import { mergedChunks } from '../../../src/dialects/gemini/chunks.ts'
import { chunksOf } from '../../dialects/gemini/written.ts'
import { FIXTURES, loadRecordings } from '../../recordings.ts'
import { DIALECTS, replayInEachDialect } from '../replaying-dialects.ts'

/** Every recorded answer as a cache hit in Google's API: once in its own form, once in the other one. */

const replaying = replayInEachDialect()

async function ask(dialect: string, text: string, isStream: boolean) {
  const before = replaying.requests
  const verb = isStream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const response = await replaying.gateway.call(
    `/models/${dialect}:${verb}`,
    {
      contents: text,
      generationConfig: { maxOutputTokens: 1000, thinkingConfig: { includeThoughts: true } },
    },
    { 'x-openrouter-cache': 'true' },
  )
  const received = await response.text()
  const chunks = isStream ? chunksOf(received) : [JSON.parse(received)]
  return {
    cache: response.headers.get('x-openrouter-cache-status'),
    asked: replaying.requests - before,
    chunks,
  }
}

/** What is of the one generation, and seals that are made anew each time, left out. */
function withoutOwn(value: unknown): unknown {
  if (typeof value === 'string') return value.replace(/[0-9a-f]{32}/g, 'ID')
  if (Array.isArray(value)) return value.map(withoutOwn)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'usageMetadata' && name !== 'responseId')
  return Object.fromEntries(
    kept.map(([name, each]) => [name, isSealed(name, each) ? 'sealed' : withoutOwn(each)]),
  )
}

const isSealed = (name: string, value: unknown): boolean =>
  name === 'thoughtSignature' && Buffer.from(String(value), 'base64').toString().startsWith('sluice.')

/** Parts and end of each candidate: a body and the chunks of a stream put an end in other places. */
const contentOf = (chunks: Record<string, unknown>[]): unknown => {
  const { candidates, promptFeedback } = mergedChunks(chunks)
  const list = Array.isArray(candidates) ? candidates.filter(isObject) : []
  return withoutOwn({
    promptFeedback,
    candidates: list.map(({ content, finishReason, index }) => ({
      index: index ?? 0,
      finishReason,
      parts: partsOf(content),
    })),
  })
}

function partsOf(content: unknown): unknown[] {
  const parts: unknown[] = isObject(content) && Array.isArray(content['parts']) ? content['parts'] : []
  const texts = parts.filter(isObject).filter(({ text }) => text !== '')
  // A signature of its own may stand on the text or behind it.
  return texts.map(({ thoughtSignature: _, ...part }) => part).toSorted(byKind)
}
const byKind = (a: object, b: object): number => (Object.keys(a).join() < Object.keys(b).join() ? -1 : 1)

for (const dialect of DIALECTS) {
  const whole = loadRecordings(join(FIXTURES, dialect)).filter(
    ({ status, expected }) => status === 200 && !expected.error,
  )
  describe(`answers of a provider that speaks ${dialect}`, () => {
    test.each(whole.map((each) => [each.name, each] as const))('%s', async (_, recording) => {
      replaying.replayed = recording
      const { isStream } = recording
      const live = await ask(dialect, recording.name, isStream)
      const row = replaying.gateway.generations().at(-1) ?? {}
      const again = await ask(dialect, recording.name, isStream)
      if (['content_filter', 'error'].includes(String(row['finish_reason']))) {
        expect(again.asked).toBeGreaterThan(0)
        return
      }
      expect([live.cache, again.cache, again.asked]).toEqual(['MISS', 'HIT', 0])
      expect(withoutOwn(again.chunks)).toEqual(withoutOwn(live.chunks))
      expect(again.chunks.at(-1)).toMatchObject({ usageMetadata: { totalTokenCount: 0, cost: 0 } })
      const other = await ask(dialect, recording.name, !isStream)
      expect([other.cache, other.asked]).toEqual(['HIT', 0])
      expect(contentOf(other.chunks)).toEqual(contentOf(live.chunks))
    })
  })
}
