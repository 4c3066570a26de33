import { UpstreamError } from '../src/core/errors.ts'
import type { UpstreamReply } from '../src/core/reply.ts'
import { isExhaustive } from './exhaustive.ts'

export interface ReplyForm {
  status?: number
  headers?: Headers
  /** Offsets at which the body is cut into chunks; `every` byte for itself. */
  cuts?: readonly number[] | 'every'
  /** How the body ends. `open`: never; only leaving it helps. */
  ending?: 'clean' | 'reset' | 'open'
  /** Called if the reader cancels before the end. */
  onLeave?: () => void
}

const ENCODER = new TextEncoder()

/** What a provider answered, without a network: the body comes in the chunks that the cuts make. */
export function upstreamReply(body: Uint8Array | string, form: ReplyForm = {}): UpstreamReply {
  const bytes = typeof body === 'string' ? ENCODER.encode(body) : body
  return {
    status: form.status ?? 200,
    headers: form.headers ?? new Headers(),
    bytes: { [Symbol.asyncIterator]: () => iterate(bytes, form) },
    text: async () => {
      if (form.ending === 'reset') throw reset()
      return new TextDecoder().decode(bytes)
    },
    beginning: async (limitBytes) => new TextDecoder().decode(bytes.subarray(0, limitBytes)),
  }
}

const reset = () => new UpstreamError('connect', 'the connection was reset')

function iterate(bytes: Uint8Array, { cuts = [], ending, onLeave }: ReplyForm): AsyncIterator<Uint8Array> {
  let from = 0
  let cut = 0
  const nextEnd = (): number => {
    if (cuts === 'every') return from + 1
    while (cut < cuts.length && (cuts[cut] ?? 0) <= from) cut++
    return Math.min(cuts[cut] ?? bytes.length, bytes.length)
  }
  return {
    next() {
      if (from < bytes.length) {
        const value = bytes.subarray(from, nextEnd())
        from += value.length
        return Promise.resolve({ done: false, value })
      }
      if (ending === 'reset') return Promise.reject(reset())
      if (ending === 'open') return new Promise(() => undefined)
      return Promise.resolve({ done: true, value: undefined })
    },
    return() {
      onLeave?.()
      return Promise.resolve({ done: true, value: undefined })
    },
  }
}

/** Reproducible numbers from 0 to 1 (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** How long a body may be for every offset of it to be tried, and how many are tried of a longer one. */
const SHORT_BYTES = 512
const SAMPLED_OFFSETS = 60

/** Every offset inside a short body, 60 seeded ones in a longer one (every one with SLUICE_TEST_EXHAUSTIVE=1). */
export function cutOffsets(length: number, seed: number): number[] {
  if (length <= SHORT_BYTES || isExhaustive)
    return Array.from({ length: Math.max(0, length - 1) }, (_, i) => i + 1)
  const random = seeded(seed)
  return Array.from({ length: SAMPLED_OFFSETS }, () => 1 + Math.floor(random() * (length - 1)))
}

/** The first 30 and the last 30 of many offsets, such as ends of events (all with SLUICE_TEST_EXHAUSTIVE=1). */
export const outermost = (offsets: readonly number[]): readonly number[] =>
  isExhaustive || offsets.length <= SAMPLED_OFFSETS
    ? offsets
    : [...offsets.slice(0, SAMPLED_OFFSETS / 2), ...offsets.slice(-SAMPLED_OFFSETS / 2)]
