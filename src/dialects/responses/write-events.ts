import type { JsonObject } from '../../core/events.ts'
import { asList, isObject } from '../../core/json.ts'
import { type JsonText, knownJson, rememberJson, SHORT_TEXT_CHARACTERS } from '../../core/json-steps.ts'
import { oneLine } from '../json-text.ts'

/** Writes the events of one stream: each has its name and the next `sequence_number`, from 0. */
export interface EventWriter {
  write(type: string, fields: JsonObject): string
  /** The same with one more field last, whose JSON text (of `jsonOf`) is known. */
  writeField(type: string, fields: JsonObject, name: string, json: JsonText): string
  /** Deltas of visible text from the JSON texts of their strings: the same bytes as `write`. `head` is of `textHead`. */
  splice(head: string, jsons: readonly string[]): string
  /**
   * The JSON text of a value, for a line of a stream. The end of a stream repeats parts and items up to four times:
   * the text of an object that `remember` was called with is written out once.
   */
  jsonOf(value: unknown): JsonText
  remember(object: JsonObject, json: JsonText): void
  /** The JSON text of an object of which the texts of some fields are known. */
  jsonWith(object: JsonObject, known: ReadonlyMap<string, JsonText>): JsonText
  createList(): EntryList
  /**
   * Long events, and those after them in the same call of the stream's writer, are passed to `take` and not returned.
   * Their numbers ascend in the order of the calls, so what was returned before comes first.
   */
  holdLong(take: (text: string) => void): void
  /** The terminal marker of the stream. */
  terminate(): string
  /** The next call of the stream's writer begins. */
  nextCall(): void
}

/** A list that grows with the stream, of annotations or of tokens: hundreds of thousands in a long answer. */
export interface EntryList {
  /** The JSON text of these entries, in brackets. */
  add(entries: readonly JsonObject[]): string
  /** The JSON text of the complete list. */
  json(): JsonText
  values(): readonly unknown[]
  /** False where `values` takes long: it reads the text. */
  isAtHand(): boolean
}

/** Held as text: that many objects would be written out four times, and would hold up the garbage collector. */
function createTextList(): EntryList {
  /** Joined as the list grows, because at the end it may have hundreds of thousands of texts. */
  const joined: string[] = []
  let texts: string[] = []
  let length = 0
  let joinedLength = 0
  const json = (): JsonText => linked(['[', ...joined, texts.join(''), ']'])
  return {
    add(entries) {
      const text = oneLine(JSON.stringify(entries))
      if (entries.length === 0) return text
      texts.push(length === 0 ? '' : ',', text.slice(1, -1))
      length += text.length
      if (length - joinedLength > SHORT_TEXT_CHARACTERS) {
        joined.push(texts.join(''))
        texts = []
        joinedLength = length
      }
      return text
    },
    json,
    values() {
      const values: unknown = JSON.parse(flat(json()))
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

export function jsonWith(object: JsonObject, known: ReadonlyMap<string, JsonText>): JsonText {
  const fields: JsonText[] = []
  /** Fields since the last one that is known: written out at once. */
  let others: JsonObject = {}
  const add = (json: string | undefined): void => {
    if (json !== undefined && json !== '') fields.push(fields.length === 0 ? json : `,${json}`)
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
    if (value === undefined) continue
    add(`${JSON.stringify(name)}:`)
    fields.push(value)
  }
  add(textOf(others)?.slice(1, -1))
  return linked(['{', ...fields, '}'])
}

function textOf(value: unknown): string | undefined {
  const json: string | undefined = JSON.stringify(value)
  return json === undefined ? undefined : oneLine(json)
}

export const jsonList = (items: readonly JsonText[]): JsonText =>
  linked(['[', ...items.flatMap((item, index) => (index === 0 ? [item] : [',', item])), ']'])

/** The texts one after the other: short ones joined, long ones as they are. */
export function linked(texts: readonly JsonText[]): JsonText {
  const links: string[] = []
  let short = ''
  const end = (): void => {
    if (short !== '') links.push(short)
    short = ''
  }
  const add = (text: string): void => {
    if (text.length > SHORT_TEXT_CHARACTERS) {
      end()
      links.push(text)
      return
    }
    short += text
    if (short.length > SHORT_TEXT_CHARACTERS) end()
  }
  for (const text of texts) {
    if (typeof text === 'string') add(text)
    else for (const link of text) add(link)
  }
  if (links.length === 0) return short
  end()
  return links
}

const longAsList = (json: string): JsonText => (json.length > SHORT_TEXT_CHARACTERS ? [json] : json)

const flat = (json: JsonText): string => (typeof json === 'string' ? json : json.join(''))

/** A name from upstream that would break the line is only in the data. */
const isName = (type: string): boolean => /^[\w.:-]+$/.test(type)

const TEXT_DELTA = 'response.output_text.delta'
const TEXT_DELTA_CLOSE = '","logprobs":[]}\n\n'
const TEXT_DELTA_OPEN = `event: ${TEXT_DELTA}\ndata: {"type":"${TEXT_DELTA}","sequence_number":`
const TEXT_DELTA_BETWEEN = TEXT_DELTA_CLOSE + TEXT_DELTA_OPEN

export function createEventWriter(): EventWriter {
  let next = 0
  /** The end of a stream repeats its text five times. */
  let last: { readonly text: string; readonly json: JsonText } = { text: '', json: '""' }
  let hold: ((text: string) => void) | null = null
  let isHolding = false

  /** The text to return. */
  function emit(head: string, json: JsonText, tail: string): string {
    if (hold === null || (!isHolding && typeof json === 'string')) return head + flat(json) + tail
    isHolding = true
    hold(head)
    if (typeof json === 'string') hold(json)
    else for (const text of json) hold(text)
    hold(tail)
    return ''
  }

  return {
    write(type, fields) {
      const json = oneLine(JSON.stringify({ type, sequence_number: next, ...fields }))
      next += 1
      return emit(`${isName(type) ? `event: ${type}\n` : ''}data: `, longAsList(json), '\n\n')
    },
    writeField(type, fields, name, json) {
      const head = oneLine(JSON.stringify({ type, sequence_number: next, ...fields })).slice(0, -1)
      next += 1
      return emit(`event: ${type}\ndata: ${head},"${name}":`, json, '}\n\n')
    },
    splice(head, jsons) {
      // Joined, because a text of hundreds of links is encoded at half the speed.
      const pieces: string[] = []
      for (const json of jsons) pieces.push(`${next++},${head}${json}`)
      return emit(TEXT_DELTA_OPEN, pieces.join(TEXT_DELTA_BETWEEN), TEXT_DELTA_CLOSE)
    },
    jsonOf(value) {
      if (typeof value === 'string') {
        if (value !== last.text) last = { text: value, json: longAsList(oneLine(JSON.stringify(value))) }
        return last.json
      }
      const written = isObject(value) ? knownJson(value) : undefined
      return written ?? longAsList(oneLine(JSON.stringify(value) ?? 'null'))
    },
    remember: rememberJson,
    jsonWith,
    createList: createTextList,
    terminate: () => emit('', 'data: [DONE]\n\n', ''),
    holdLong(take) {
      hold = take
    },
    nextCall() {
      isHolding = false
    },
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
  terminate: () => '',
  holdLong: () => undefined,
  nextCall: () => undefined,
}

/** What all deltas of one part begin with. */
export const textHead = (itemId: string, outputIndex: number, contentIndex: number): string => {
  const fields = { item_id: itemId, output_index: outputIndex, content_index: contentIndex }
  return `${oneLine(JSON.stringify(fields)).slice(1, -1)},"delta":"`
}

/** `logprobs`: their JSON text. */
export const writeTextDelta = (events: EventWriter, fields: JsonObject, logprobs: string): string =>
  events.writeField(TEXT_DELTA, fields, 'logprobs', logprobs)
