import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { corpus } from '../../bench/hostile/corpus.ts'
import { type HostileServer, startHostile } from '../../bench/hostile/server.ts'

/**
 * Some of the corpus of `bun run bench hostile`, in its full size, against a gateway whose main thread is watched. The
 * bench wants 100 ms of processor time; here other tests share the machine's caches.
 */
const MOST_MS = 400

const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'))
let server: HostileServer
beforeAll(async () => {
  server = await startHostile(folder, 1)
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

const rows: readonly (readonly [name: string, status: number])[] = [
  ['chat → gemini: response_format, doubling $defs', 200],
  ['chat → gemini: tool, doubling $defs', 200],
  ['chat → gemini: tool, doubling definitions in allOf', 200],
  ['chat → gemini: response_format, many cycles of $refs', 200],
  ['chat → gemini: response_format, one large definition, often', 200],
  ['messages → gemini: doubling $defs', 200],
  ['chat → chat: a data URL of blanks', 200],
  ['chat → converse: a data URL of parameters', 400],
  ['images: a data URL of blanks', 400],
  ['chat → chat: a million unknown fields', 400],
  ['chat → chat: six million empty lists', 400],
  ['chat → chat: a number of 20 MB', 400],
  ['chat → chat: deeper than 64', 400],
  ['chat → chat: a text of 20 MB', 200],
  ['responses → chat: 100,000 reasoning', 400],
  ['responses → chat: all calls, then all outputs', 400],
  ['embeddings: five million tokens', 400],
  ['audio/transcriptions: one list of 100,000', 400],
  ['chat-body-fields → chat', 502],
  ['chat-body-deep → chat', 502],
  ['chat-stream-lines → chat', 502],
  ['chat-stream-returns → responses, streamed', 502],
]

test('every row is in the corpus, every name once', () => {
  const names = corpus.map(({ name }) => name)
  expect(rows.filter(([name]) => !names.includes(name))).toEqual([])
  expect(new Set(names).size).toBe(names.length)
})

describe('no hostile request holds the main thread', () => {
  for (const [name, status] of rows) {
    test(name, async () => {
      const shape = corpus.find((one) => one.name === name)
      if (shape === undefined) throw new Error('no such shape')
      const outcome = await server.send(shape, 1)
      // On a slow machine the first keep-alive of a stream comes before its failure: then that is an event.
      const isFailedStream = outcome.status === 200 && outcome.text.startsWith(': SLUICE PROCESSING')
      if (status === 502 && isFailedStream) expect(outcome.text).toContain('"error":{')
      else expect({ status: outcome.status, text: outcome.text }).toMatchObject({ status })
      expect(outcome.stop.cpuMs).toBeLessThan(MOST_MS)
    }, 60_000)
  }
})
