import { expect, test } from 'bun:test'
import type { InferenceEvent, JsonObject } from '../../src/core/events.ts'
import { geminiIngress } from '../../src/dialects/gemini/ingress.ts'
import { canonicalBody } from '../../src/dialects/gemini/names.ts'
import { closingOf, replyOf } from '../dialects/gemini/written.ts'
import { range } from './samples.ts'

/** Google's API toward callers: bodies are read, and replies written, in time that grows with what is in them. */

const N = 8_000
/** Linear work grows 4 times, quadratic work 16 times; between lie collectors and the machine's other processes. */
const MOST_GROWTH = 10
const MEASURABLE_MS = 5
const TRIES = 8

/** Of the least CPU time for 4n things to the least for n. */
function growthOf<T>(prepare: (n: number) => T, work: (input: T) => void): number {
  const [small, large] = [prepare(N), prepare(4 * N)]
  let least = Number.POSITIVE_INFINITY
  let leastOfLarge = Number.POSITIVE_INFINITY
  const growth = (): number => leastOfLarge / Math.max(least, MEASURABLE_MS)
  for (let run = 0; run < TRIES; run++) {
    least = Math.min(
      least,
      timed(() => work(small)),
    )
    leastOfLarge = Math.min(
      leastOfLarge,
      timed(() => work(large)),
    )
    if (growth() <= MOST_GROWTH) break
    Bun.gc(true)
  }
  return growth()
}

function timed(work: () => void): number {
  const before = process.cpuUsage()
  work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

const model = (parts: unknown) => ({ role: 'model', parts })
const user = (parts: unknown) => ({ role: 'user', parts })
const HI = user([{ text: 'Hi' }])
const call = (i: number) => ({ functionCall: { id: `id_${i}`, name: 'look', args: {} } })
const answer = (i: number) => ({ functionResponse: { id: `id_${i}`, name: 'look', response: {} } })
const fields = (n: number) => Object.fromEntries(range(n, (i) => [`f${i}`, 1]))
const ofContents = (contents: unknown[]): JsonObject => ({ contents })

const bodies: Record<string, (n: number) => JsonObject> = {
  parts: (n) => ofContents([user(range(n, () => ({ text: 'a' })))]),
  contents: (n) => ofContents(range(n, (i) => (i % 2 === 0 ? HI : model([{ text: 'a' }])))),
  'unknown fields': (n) => ({ ...ofContents([HI]), ...fields(n) }),
  'unknown fields of a part': (n) => ofContents([user([{ text: 'a', ...fields(n) }])]),
  'parallel calls': (n) => ofContents([HI, model(range(n, call)), user(range(n, answer))]),
  'answers without ids': (n) =>
    ofContents([
      HI,
      model(range(n, () => ({ functionCall: { name: 'look' } }))),
      user(range(n, () => ({ functionResponse: { name: 'look' } }))),
    ]),
  'signed thoughts': (n) =>
    ofContents([model(range(n, (i) => ({ text: 'a', thought: true, thoughtSignature: `c2ln${i}` }))), HI]),
  functions: (n) => ({
    ...ofContents([HI]),
    tools: [{ functionDeclarations: range(n, (i) => ({ name: `f${i}`, parameters: { type: 'OBJECT' } })) }],
  }),
  properties: (n) => ({
    ...ofContents([HI]),
    generationConfig: {
      responseMimeType: 'application/json',
      responseSchema: {
        type: 'OBJECT',
        properties: Object.fromEntries(range(n, (i) => [`p${i}`, { type: 'STRING' }])),
      },
    },
  }),
}

test.each(Object.entries(bodies))(
  'reading %s',
  (_, body) => {
    const growth = growthOf(body, (sent) => {
      geminiIngress.parse({ ...canonicalBody(sent), model: 'm', stream: false }, new Headers())
    })
    expect(growth).toBeLessThanOrEqual(MOST_GROWTH)
  },
  60_000,
)

const choice = 0
const replies: Record<string, (n: number) => InferenceEvent[]> = {
  texts: (n) => range(n, () => ({ type: 'text-delta', choice, text: 'abc ' })),
  calls: (n) =>
    range(n, (index): InferenceEvent[] => [
      { type: 'tool-call-start', choice, index, id: `c${index}`, name: 'f' },
      { type: 'tool-call-delta', choice, index, json: '{}' },
    ]).flat(),
  'pieces of arguments': (n) => [
    { type: 'tool-call-start', choice, index: 0, id: 'c', name: 'f' },
    { type: 'tool-call-delta', choice, index: 0, json: '{"a":"' },
    ...range(n, (): InferenceEvent => ({ type: 'tool-call-delta', choice, index: 0, json: 'abc' })),
    { type: 'tool-call-delta', choice, index: 0, json: '"}' },
  ],
  citations: (n) => [
    { type: 'text-delta', choice, text: 'abc '.repeat(n) },
    ...range(n, (i): InferenceEvent => {
      const place = { title: 't', startIndex: i, endIndex: i + 3 }
      return {
        type: 'annotation',
        choice,
        annotation: { type: 'url_citation', url: `https://x/${i}`, ...place },
      }
    }),
  ],
  'pieces of thoughts': (n) =>
    range(n, () => ({ type: 'reasoning-detail', choice, detail: { type: 'reasoning.text', text: 'abc' } })),
  "chunks of the provider's": (n) =>
    range(n, () => {
      const chunk = { candidates: [{ content: { parts: [{ text: 'abc ' }] } }] }
      return { type: 'native', dialect: 'gemini', data: { chunk } }
    }),
}

test.each(Object.entries(replies))(
  'writing %s',
  (_, events) => {
    const growth = growthOf(events, (said) => {
      const writer = geminiIngress.writeStream(replyOf())
      const frames = said.map((event) => ({ events: [event] }))
      for (const frame of frames) writer.write(frame)
      writer.write({ events: [{ type: 'response-end', finishes: [] }] })
      writer.end(closingOf())
      geminiIngress.gather(frames)
    })
    expect(growth).toBeLessThanOrEqual(MOST_GROWTH)
  },
  60_000,
)
