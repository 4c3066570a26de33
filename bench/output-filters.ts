import { newCancellation } from '../src/core/cancellation.ts'
import type { FrameBatch, InferenceFrames } from '../src/core/events.ts'
import type { GuardrailRecord } from '../src/core/guardrail.ts'
import type { InferenceRequest } from '../src/core/request.ts'
import { guarded, metered } from '../src/inference/filters/output/apply.ts'
import { createMeter } from '../src/inference/reply/meter.ts'
import type { Dispatched } from '../src/inference/upstream/first-content.ts'
import { percentile } from './statistics.ts'

/** The time that content filters add to an answer, over its complete stream. */

export interface Answered {
  name: string
  text: string
  /** Null: filters are off. */
  guardrail: GuardrailRecord | null
}

/** Characters of a token, about. */
const TOKEN = 5
const TURNS = 40

const REQUEST: InferenceRequest = {
  apiType: 'completions',
  dialect: 'chat',
  body: {},
  models: ['m'],
  stream: true,
  messages: [],
  tools: [],
  sampling: {},
  preferences: { allowFallbacks: true, requireParameters: false },
  echoUpstreamBody: false,
  parameters: [],
}

/** One row for each: what a stream of one token a read costs more than without filters, and what it waits with. */
export async function answerRows(
  answers: readonly Answered[],
  goalMs: number,
): Promise<[rows: string[][], isGood: boolean]> {
  let isGood = true
  const rows: string[][] = []
  for (const { name, text, guardrail } of answers) {
    const batches = batchesOf(text)
    const guardrails = guardrail === null ? [] : [guardrail]
    const times: number[] = []
    let most = 0
    for (let turn = 0; turn < TURNS; turn++) {
      const plain = await timed(batches, [])
      const filtered = await timed(batches, guardrails)
      times.push(filtered.ms - plain.ms)
      most = filtered.mostHeld
    }
    times.sort((a, b) => a - b)
    const p50 = percentile(times, 0.5)
    isGood &&= p50 <= goalMs
    rows.push([name, ms(p50), ms(percentile(times, 0.99)), ms(p50 / batches.length), `${most} characters`])
  }
  return [rows, isGood]
}

const ms = (value: number): string => `${Math.max(0, value).toFixed(value < 0.1 ? 4 : 2)} ms`

function batchesOf(text: string): FrameBatch[] {
  const batches: FrameBatch[] = []
  for (let at = 0; at < text.length; at += TOKEN) {
    const token = text.slice(at, at + TOKEN)
    batches.push([
      { events: [{ type: 'text-delta', choice: 0, text: token }], plainText: { jsons: [token] } },
    ])
  }
  batches.push([
    { events: [{ type: 'response-end', finishes: [{ choice: 0, reason: 'stop', native: null }] }] },
  ])
  return batches
}

async function timed(batches: readonly FrameBatch[], guardrails: readonly GuardrailRecord[]) {
  let read = 0
  let written = 0
  let mostHeld = 0
  const frames: InferenceFrames = {
    [Symbol.asyncIterator]: () => {
      let at = 0
      return {
        next: async () => {
          mostHeld = Math.max(mostHeld, read - written)
          const value = batches[at++]
          if (value === undefined) return { value, done: true as const }
          read += lengthOf(value)
          return { value, done: false as const }
        },
      }
    },
  }
  const meter = metered(
    createMeter(() => 0, 0),
    { guardrails },
    REQUEST,
  )
  const started: Pick<Dispatched, 'frames' | 'dropped'> = { frames, dropped: [] }
  const startedAt = performance.now()
  for await (const batch of guarded({ meter, cancellation: newCancellation() }, started).frames) {
    written += lengthOf(batch)
  }
  return { ms: performance.now() - startedAt, mostHeld }
}

function lengthOf(batch: FrameBatch): number {
  let length = 0
  for (const { events } of batch)
    for (const event of events) if (event.type === 'text-delta') length += event.text.length
  return length
}
