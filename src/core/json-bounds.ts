/** What JSON holds, found in one pass over its bytes before it is parsed: parsing costs by that, not by its length. */

/** Deeper JSON is refused: recursive code behind the parser would overflow its stack. */
export const MAX_JSON_DEPTH = 64
/**
 * Strings (names of fields, too), objects and lists. The parser takes up to 0.5 µs for each, and all that reads,
 * translates and writes the request as much again. A turn of an agent has some 20.
 */
export const MAX_JSON_PARTS = 100_000
/** Items of lists and fields of objects, such as numbers and tokens. */
export const MAX_JSON_VALUES = 1_000_000
/** Bytes of one number, which the parser reads slowly. */
export const MAX_JSON_RUN = 100_000
/** `\n`, `\"` and the like in strings: the parser takes 10 ns for each. JSON within a string has one for each four bytes. */
export const MAX_JSON_ESCAPES = 6_000_000
/** Names that are numbers make an object sparse: the engine takes four times as long for them. */
const PARTS_OF_A_NUMERIC_NAME = 4

export type JsonExcess = 'depth' | 'parts' | 'values' | 'run' | 'escapes'

export interface JsonBounds {
  depth: number
  parts: number
  values: number
  run: number
  escapes: number
}

export const JSON_BOUNDS: JsonBounds = {
  depth: MAX_JSON_DEPTH,
  parts: MAX_JSON_PARTS,
  values: MAX_JSON_VALUES,
  run: MAX_JSON_RUN,
  escapes: MAX_JSON_ESCAPES,
}

export const UNBOUNDED: JsonBounds = {
  depth: Number.POSITIVE_INFINITY,
  parts: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
  run: Number.POSITIVE_INFINITY,
  escapes: Number.POSITIVE_INFINITY,
}

export interface JsonMeasure {
  /** The exceeded limit; the rest of the bytes was not scanned. Null: none. */
  excess: JsonExcess | null
  /** Objects and lists. */
  containers: number
  /** Strings, objects and lists. */
  parts: number
}

const QUOTE = 0x22
/** It and the control characters before it. */
const BLANK = 0x20
const COMMA = 0x2c
const BACKSLASH = 0x5c
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d

/** Measures JSON without parsing it, up to the first bound that it exceeds. Strings are skipped: 20 MB take about 10 ms. */
export function measureJson(bytes: Uint8Array, bounds: JsonBounds): JsonMeasure {
  const { depth: mostDepth, parts: most, values, run: mostRun } = bounds
  const end = bytes.length
  let depth = 0
  let containers = 0
  let strings = 0
  let commas = 0
  let at = 0
  let runStart = 0
  const measured = (excess: JsonExcess | null): JsonMeasure => ({
    excess,
    containers,
    parts: strings + containers,
  })
  if (hasMoreEscapes(bytes, bounds.escapes)) return measured('escapes')
  while (at < end) {
    const byte = bytes[at++]
    if (byte === QUOTE) {
      const start = at
      at = afterString(bytes, at)
      strings += isNumeric(bytes, start, at - 1) ? PARTS_OF_A_NUMERIC_NAME : 1
    } else if (byte === COMMA) {
      if (++commas >= values) return measured('values')
    } else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      if (++depth > mostDepth) return measured('depth')
      containers += 1
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--
    else {
      if (byte !== undefined && byte <= BLANK) {
        at = afterBlanks(bytes, at)
        runStart = at
      } else if (at - runStart > mostRun) return measured('run')
      continue
    }
    if (strings + containers > most) return measured('parts')
    runStart = at
  }
  return measured(null)
}

function afterBlanks(bytes: Uint8Array, from: number): number {
  const end = bytes.length
  let at = from
  while (at < end && (bytes[at] ?? 0) <= BLANK) at++
  return at
}

/** Only bodies that are long enough for so many are scanned: 20 MB take about 15 ms, without escapes 2 ms. */
function hasMoreEscapes(bytes: Uint8Array, most: number): boolean {
  const end = bytes.length
  if (end <= 2 * most) return false
  let count = 0
  for (let at = bytes.indexOf(BACKSLASH); at !== -1; ) {
    count += 1
    at += 2
    const walkEnd = Math.min(end, at + SHORT_STRING)
    while (at < walkEnd && bytes[at] !== BACKSLASH) at++
    if (at >= walkEnd) at = bytes.indexOf(BACKSLASH, at)
  }
  return count > most
}

const ZERO = 0x30
const NINE = 0x39
/** Digits of the largest index of an array. */
const INDEX_DIGITS = 10

function isNumeric(bytes: Uint8Array, start: number, end: number): boolean {
  if (start >= end || end - start > INDEX_DIGITS) return false
  for (let at = start; at < end; at++) {
    const byte = bytes[at] ?? 0
    if (byte < ZERO || byte > NINE) return false
  }
  return true
}

/** True when arrays and objects are nested deeper than `limit`. */
export const isDeeperThan = (bytes: Uint8Array, limit: number): boolean =>
  measureJson(bytes, { ...UNBOUNDED, depth: limit }).excess === 'depth'

/** Strings up to this length are walked byte by byte; longer ones are searched natively for their quote. */
const SHORT_STRING = 48

function afterString(bytes: Uint8Array, start: number): number {
  const end = bytes.length
  let at = start
  for (;;) {
    const walkEnd = Math.min(end, at + SHORT_STRING)
    while (at < walkEnd) {
      const byte = bytes[at++]
      if (byte === QUOTE) return at
      if (byte === BACKSLASH) at++
    }
    if (at >= end) return end
    const quote = bytes.indexOf(QUOTE, at)
    if (quote < 0) return end
    at = quote + 1
    if (!isEscaped(bytes, quote)) return at
  }
}

function isEscaped(bytes: Uint8Array, quote: number): boolean {
  let first = quote
  while (bytes[first - 1] === BACKSLASH) first--
  return (quote - first) % 2 === 1
}
