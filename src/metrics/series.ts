import { createAmounts } from './amounts.ts'
import type { Label } from './definition.ts'
import { type Definition, mostSetsOf, otherOf } from './definition.ts'

/** The generation of an observation, for OpenMetrics. */
export interface Exemplar {
  readonly generationId: string
  readonly traceId: string
  readonly value: number
  /** Milliseconds since 1970. */
  readonly at: number
}

/** The place of a label set in the arrays of its metric. Valid until `sweep` removes something. */
export type Place = number

/** All label sets of one metric, in typed arrays. Everything but `place` is a few array accesses. */
export interface Series {
  readonly definition: Definition
  /** Finds or adds a label set; that of `other` if the metric is full. */
  place(values: readonly string[]): Place
  /** Adds to a counter or a gauge. Of money: an integer of nano-dollars. */
  add(place: Place, amount: number): void
  /** Adds a value to a histogram. */
  observe(place: Place, value: number, exemplar?: Exemplar): void
  /** Label sets and free places. */
  size(): number
  /** The values of every label set. */
  labelValues(): Iterable<readonly string[]>
  /** Null: the place is free. */
  at(place: Place): Reading | null
  /** Removes label sets whose things are gone for longer than `keepMs`. True if any was. */
  sweep(isGone: (values: readonly string[]) => boolean, at: number, keepMs: number): boolean
}

/** The current values of a label set. */
export interface Reading {
  readonly labels: string
  /** Milliseconds since 1970; null: not known. */
  readonly createdAt: number | null
  /** The value of a counter or gauge, or the sum of a histogram, as text. */
  readonly value: string
  /** Of each bucket of a histogram, that beyond the last bound included; not cumulative. Empty for other kinds. */
  readonly counts: Float64Array
  readonly exemplars: readonly (Exemplar | undefined)[]
}

interface LabelSet {
  readonly key: string
  readonly values: readonly string[]
  readonly text: string
  readonly createdAt: number | null
  readonly isOther: boolean
  /** When its things were first missing; 0: they exist. */
  goneAt: number
  readonly exemplars: (Exemplar | undefined)[]
}

export interface SeriesOptions {
  readonly mostSeries: number
  /** The time of a new label set, in milliseconds since 1970; null: it is not known. */
  createdAt(): number | null
  /** Called for each value that is added to `other`. */
  onOverflow(): void
}

export function createSeries(definition: Definition, options: SeriesOptions): Series {
  const mostSets = mostSetsOf(definition, options.mostSeries)
  const amounts = createAmounts(definition)
  const places = new Map<string, Place>()
  const sets: (LabelSet | null)[] = []
  const free: Place[] = []
  let others = 0

  function opened(key: string, values: readonly string[], isOther: boolean): Place {
    const place = free.pop() ?? sets.length
    amounts.reserve(place)
    const text = labelText(definition.labels, values)
    sets[place] = { key, values, text, createdAt: options.createdAt(), isOther, goneAt: 0, exemplars: [] }
    places.set(key, place)
    if (isOther) others += 1
    return place
  }

  function remove(place: Place, { key }: LabelSet): void {
    places.delete(key)
    sets[place] = null
    amounts.clear(place)
    free.push(place)
  }

  return {
    definition,
    place(values) {
      const key = values.join('\0')
      const known = places.get(key)
      if (known !== undefined) return known
      const isRoom = definition.labels.length === 0 || places.size - others < mostSets
      if (isRoom) return opened(key, values, false)
      const other = otherOf(definition, values)
      const otherKey = other.join('\0')
      return places.get(otherKey) ?? opened(otherKey, other, true)
    },
    add(place, amount) {
      if (sets[place]!.isOther) options.onOverflow()
      amounts.add(place, amount)
    },
    observe(place, value, exemplar) {
      const set = sets[place]!
      if (set.isOther) options.onOverflow()
      const bucket = amounts.observe(place, value)
      if (exemplar !== undefined) set.exemplars[bucket] = exemplar
    },
    size: () => sets.length,
    *labelValues() {
      for (const set of sets) if (set !== null) yield set.values
    },
    at(place) {
      const set = sets[place]
      if (!set) return null
      const { text: labels, createdAt, exemplars } = set
      return { labels, createdAt, value: amounts.text(place), counts: amounts.counts(place), exemplars }
    },
    sweep(isGone, at, keepMs) {
      let isChanged = false
      for (const [place, set] of sets.entries()) {
        if (set === null || set.isOther) continue
        if (!isGone(set.values)) set.goneAt = 0
        else if (set.goneAt === 0) set.goneAt = at
        else if (at - set.goneAt >= keepMs) {
          remove(place, set)
          isChanged = true
        }
      }
      return isChanged
    },
  }
}

/** A longer value is cut. */
const MOST_CHARACTERS = 128

const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' }
const escaped = (value: string): string =>
  value
    .slice(0, MOST_CHARACTERS)
    .toWellFormed()
    .replace(/[\\"\n]/g, (character) => ESCAPES[character] ?? character)

/** `name="value",…` without braces. A label without a value is left out, which means the same. */
function labelText(labels: readonly Label[], values: readonly string[]): string {
  const members: string[] = []
  for (const [index, label] of labels.entries()) {
    const value = values[index] ?? ''
    if (value !== '') members.push(`${label}="${escaped(value)}"`)
  }
  return members.join(',')
}
