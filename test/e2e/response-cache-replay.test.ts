import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { isObject } from '../../src/core/json.ts'
import { FIXTURES, loadRecordings } from '../recordings.ts'
import { DIALECTS, replayInEachDialect } from './replaying-dialects.ts'
import { contentOf, eventsOf, messageOf, type Wire, withoutOwn } from './reply-content.ts'

/** Every recorded answer as a cache hit, in every API: once in its own form, once in the other one. */

const replaying = replayInEachDialect()
const PATHS: Readonly<Record<Wire, string>> = {
  chat: '/chat/completions',
  messages: '/messages',
  responses: '/responses',
}
/** Finish reasons that are never cached: blocked or refused answers. */
const NOT_KEPT = new Set(['content_filter', 'error'])

const bodyOf = (wire: Wire, model: string, text: string, stream: boolean) => ({
  model,
  stream,
  ...(wire === 'responses'
    ? { input: text }
    : { max_tokens: 1000, messages: [{ role: 'user', content: text }] }),
})

async function ask(wire: Wire, dialect: string, text: string, stream: boolean) {
  const before = replaying.requests
  const response = await replaying.gateway.call(PATHS[wire], bodyOf(wire, dialect, text, stream), {
    'x-openrouter-cache': 'true',
  })
  return {
    status: response.status,
    cache: response.headers.get('x-openrouter-cache-status'),
    text: await response.text(),
    asked: replaying.requests - before,
  }
}

for (const dialect of DIALECTS) {
  const whole = loadRecordings(join(FIXTURES, dialect)).filter(
    ({ status, expected }) => status === 200 && !expected.error,
  )
  describe(`answers of a provider that speaks ${dialect}`, () => {
    for (const recording of whole) {
      for (const wire of ['chat', 'messages', 'responses'] as const) {
        test(`${recording.name}, asked for in ${wire}`, async () => {
          replaying.replayed = recording
          const { isStream } = recording
          const live = await ask(wire, dialect, recording.name, isStream)
          const row = replaying.gateway.generations().at(-1) ?? {}
          const again = await ask(wire, dialect, recording.name, isStream)
          if (NOT_KEPT.has(String(row['finish_reason']))) {
            expect(again).toMatchObject({ asked: again.asked })
            expect(again.asked).toBeGreaterThan(0)
            return
          }
          expect([live.cache, again.cache, again.asked]).toEqual(['MISS', 'HIT', 0])
          expect(eventsOf(again.text).map(withoutOwn)).toEqual(eventsOf(live.text).map(withoutOwn))
          expect(eventsOf(again.text).map(usedIn)).toEqual(eventsOf(again.text).map(() => 0))

          const other = await ask(wire, dialect, recording.name, !isStream)
          expect([other.cache, other.asked]).toEqual(['HIT', 0])
          expect(contentOf(wire, other.text)).toEqual(contentOf(wire, live.text))
          // Of a provider of Anthropic's own dialect, block for block.
          if (wire === dialect && wire === 'messages')
            expect(messageOf(other.text)).toEqual(messageOf(live.text))
        })
      }
    }
  })
}

/** The sum of whatever is counted in an event. */
function usedIn(event: unknown): number {
  if (!isObject(event)) return 0
  return Object.entries(event).reduce((sum, [name, value]) => {
    if (name === 'usage' || name.endsWith('_details')) return sum + numbersIn(value)
    return sum + usedIn(value)
  }, 0)
}
const numbersIn = (value: unknown): number => {
  if (typeof value === 'number') return Math.abs(value)
  return isObject(value) ? Object.values(value).reduce<number>((sum, each) => sum + numbersIn(each), 0) : 0
}
