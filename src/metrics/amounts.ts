import { withoutTrailing } from '../core/trailing.ts'
import type { Definition } from './definition.ts'

/** The numbers of a metric, by place, in typed arrays that grow. */
export interface Amounts {
  /** Makes room for this place. */
  reserve(place: number): void
  /** Of money: an integer of nano-dollars. */
  add(place: number, amount: number): void
  /** Counts a value in its bucket and adds it to the sum. Returns the number of the bucket. */
  observe(place: number, value: number): number
  clear(place: number): void
  /** The value of a counter or gauge, or the sum of a histogram. Money is exact, in USD. */
  text(place: number): string
  /** Of each bucket, that beyond the last bound included; not cumulative. Empty unless it is a histogram. */
  counts(place: number): Float64Array
}

const FIRST_PLACES = 8
const NANO = 1_000_000_000

export function createAmounts({ bounds = [], kind, isMoney = false, combined }: Definition): Amounts {
  const width = kind === 'histogram' ? bounds.length + 1 : 0
  // Of money: whole dollars, and nano-dollars below one. Both stay exact.
  let values = new Float64Array(FIRST_PLACES)
  let nanos = new Float64Array(isMoney ? FIRST_PLACES : 0)
  let counts = new Float64Array(FIRST_PLACES * width)

  function addMoney(place: number, nanoUsd: number): void {
    const nano = nanos[place]! + (nanoUsd % NANO)
    const carry = Math.floor(nano / NANO)
    nanos[place] = nano - carry * NANO
    values[place]! += Math.trunc(nanoUsd / NANO) + carry
  }

  return {
    reserve(place) {
      if (place < values.length) return
      const length = values.length * 2
      values = grown(values, length)
      if (isMoney) nanos = grown(nanos, length)
      counts = grown(counts, length * width)
    },
    add(place, amount) {
      if (isMoney) addMoney(place, amount)
      else if (combined === 'greatest') values[place] = Math.max(values[place]!, amount)
      else values[place]! += amount
    },
    observe(place, value) {
      let bucket = 0
      while (bucket < bounds.length && value > bounds[bucket]!) bucket += 1
      counts[place * width + bucket]! += 1
      values[place]! += value
      return bucket
    },
    clear(place) {
      values[place] = 0
      if (isMoney) nanos[place] = 0
      counts.fill(0, place * width, (place + 1) * width)
    },
    text(place) {
      const value = String(values[place])
      const nano = isMoney ? nanos[place]! : 0
      return nano === 0 ? value : `${value}.${withoutTrailing(String(nano).padStart(9, '0'), '0')}`
    },
    counts: (place) => counts.subarray(place * width, (place + 1) * width),
  }
}

function grown(array: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  const larger = new Float64Array(length)
  larger.set(array)
  return larger
}
