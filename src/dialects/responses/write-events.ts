import type { JsonObject } from '../../core/events.ts'
import { asList, isObject } from '../../core/json.ts'
import { oneLine } from '../json-text.ts'

/** Writes the events of one stream: each has its name and the next `sequence_number`, from 0. */
export interface EventWriter {
  write(type: string, fields: JsonObject): string
  /** The same with one more field last, whose JSON text (of `jsonOf`) is known. */
  writeField(type: string, fields: JsonObject, name: string, json: string): string
  /** Deltas of visible text from the JSON texts of their strings: the same bytes as `write`. `head` is of `textHead`. */
  splice(head: string, jsons: readonly string[]): string
  /**
   * The JSON text of a value, for a line of a stream. The end of a stream repeats parts and items up to four times:
   * the text of an object that `remember` was called with is written out once.
   */
  jsonOf(value: unknown): string
  remember(object: JsonObject, json: string): void
  /** The JSON text of an object of which the texts of some fields are known. */
  jsonWith(object: JsonObject, known: ReadonlyMap<string, string>): string
  createList(): EntryList
}

/** A list that grows with the stream, of annotations or of tokens: hundreds of thousands in a long answer. */
export interface EntryList {
  /** The JSON text of these entries, in brackets. */
  add(entries: readonly JsonObject[]): string
  /** The JSON text of the complete list. */
  json(): string
  values(): readonly unknown[]
  /** False where `values` takes long: it reads the text. */
  isAtHand(): boolean
}

/** Of one list. */
const SHORT_TEXT_CHARACTERS = 64 * 1024

/** Held as text: that many objects would be written out four times, and would hold up the garbage collector. */
function createTextList(): EntryList {
  const texts: string[] = []
  let length = 0
  const json = (): string => `[${texts.join(',')}]`
  return {
    add(entries) {
      const text = oneLine(JSON.stringify(entries))
      if (entries.length > 0) texts.push(text.slice(1, -1))
      length += text.length
      return text
    },
    json,
    values() {
      const values: unknown = JSON.parse(json())
      return asList(values)
    },
    isAtHand: () => length <= SHORT_TEXT_CHARACTERS,
  }
}

function createValueList(): EntryList {
  const values: JsonObject[] = []
  return {
    add(entries) {
      for (const entry of entries) values.push(entry)
      return ''
    },
    json: () => '',
    values: () => values,
    isAtHand: () => true,
  }
}

export function jsonWith(object: JsonObject, known: ReadonlyMap<string, string>): string {
  let fields = ''
  /** Fields since the last one that is known: written out at once. */
  let others: JsonObject = {}
  const add = (json: string | undefined): void => {
    if (json !== undefined && json !== '') fields += fields === '' ? json : `,${json}`
  }
  for (const name of Object.keys(object)) {
    const json = known.get(name)
    // An assignment to a field of this name would not be one.
    if (json === undefined && name !== '__proto__') {
      others[name] = object[name]
      continue
    }
    add(textOf(others)?.slice(1, -1))
    others = {}
    const value = json ?? textOf(object[name])
    if (value !== undefined) add(`${JSON.stringify(name)}:${value}`)
  }
  add(textOf(others)?.slice(1, -1))
  return `{${fields}}`
}

function textOf(value: unknown): string | undefined {
  const json: string | undefined = JSON.stringify(value)
  return json === undefined ? undefined : oneLine(json)
}

/** Long texts are linked, not copied, as they would be by `join`. */
export function jsonList(texts: readonly string[]): string {
  let list = ''
  for (const text of texts) list += list.length > 0 ? `,${text}` : text
  return `[${list}]`
}

/** A name from upstream that would break the line is only in the data. */
const isName = (type: string): boolean => /^[\w.:-]+$/.test(type)

const TEXT_DELTA = 'response.output_text.delta'
const TEXT_DELTA_CLOSE = '","logprobs":[]}\n\n'
const TEXT_DELTA_OPEN = `event: ${TEXT_DELTA}\ndata: {"type":"${TEXT_DELTA}","sequence_number":`
const TEXT_DELTA_BETWEEN = TEXT_DELTA_CLOSE + TEXT_DELTA_OPEN

export function createEventWriter(): EventWriter {
  let next = 0
  const known = new WeakMap<JsonObject, string>()
  /** The end of a stream repeats its text five times. */
  let last = { text: '', json: '""' }
  return {
    write(type, fields) {
      const json = oneLine(JSON.stringify({ type, sequence_number: next, ...fields }))
      next += 1
      return `${isName(type) ? `event: ${type}\n` : ''}data: ${json}\n\n`
    },
    writeField(type, fields, name, json) {
      const head = oneLine(JSON.stringify({ type, sequence_number: next, ...fields })).slice(0, -1)
      next += 1
      return `event: ${type}\ndata: ${head},"${name}":${json}}\n\n`
    },
    splice(head, jsons) {
      // Joined, because a text of hundreds of links is encoded at half the speed.
      const pieces: string[] = []
      for (const json of jsons) pieces.push(`${next++},${head}${json}`)
      return `${TEXT_DELTA_OPEN}${pieces.join(TEXT_DELTA_BETWEEN)}${TEXT_DELTA_CLOSE}`
    },
    jsonOf(value) {
      if (typeof value === 'string') {
        if (value !== last.text) last = { text: value, json: oneLine(JSON.stringify(value)) }
        return last.json
      }
      const written = isObject(value) ? known.get(value) : undefined
      return written ?? oneLine(JSON.stringify(value) ?? 'null')
    },
    remember: (object, json) => void known.set(object, json),
    jsonWith,
    createList: createTextList,
  }
}

/** Says nothing: for a reply in one piece, of which only the items are wanted. */
export const MUTE: EventWriter = {
  write: () => '',
  writeField: () => '',
  splice: () => '',
  jsonOf: () => '',
  remember: () => undefined,
  jsonWith: () => '',
  createList: createValueList,
}

/** What all deltas of one part begin with. */
export const textHead = (itemId: string, outputIndex: number, contentIndex: number): string => {
  const fields = { item_id: itemId, output_index: outputIndex, content_index: contentIndex }
  return `${oneLine(JSON.stringify(fields)).slice(1, -1)},"delta":"`
}

/** `logprobs`: their JSON text. */
export const writeTextDelta = (events: EventWriter, fields: JsonObject, logprobs: string): string =>
  events.writeField(TEXT_DELTA, fields, 'logprobs', logprobs)
