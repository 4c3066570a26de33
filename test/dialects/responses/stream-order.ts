import { isObject } from '../../../src/core/json.ts'

/**
 * Checks event streams of this dialect: framing, `sequence_number`, the order of api-surface §20.3, ids and
 * indexes, and that deltas, `.done` events, items and the final response agree.
 */

type Json = Record<string, unknown>

export interface CheckedStream {
  /** Without `[DONE]`. */
  events: Json[]
  /** The response of the terminal event. */
  response: Json
  /** The terminal event's type, after `response.`. */
  ending: string
}

interface OpenItem {
  readonly item: Json
  readonly index: number
  /** By `<kind> <index>`. */
  readonly parts: Map<string, { text: string; annotations: unknown[]; isDone: boolean }>
  /** Arguments or input. */
  written: string | null
  done: Json | null
}

const LIFECYCLE = ['response.created', 'response.in_progress']
const TERMINAL = /^response\.(completed|incomplete|failed)$/

export function checkStream(sse: string): CheckedStream {
  const events = framesOf(sse)
  const items: OpenItem[] = []
  events.forEach((event, i) => {
    if (event['sequence_number'] !== i) throw wrong(event, `sequence_number should be ${i}`)
    if (i < 2) begins(event, LIFECYCLE[i] ?? '')
    else if (i < events.length - 1) checkEvent(event, items)
  })
  const last = events.at(-1) ?? {}
  const [, ending] = TERMINAL.exec(String(last['type'])) ?? []
  const response = last['response']
  if (ending === undefined || !isObject(response)) throw wrong(last, 'should be terminal')
  if (response['id'] !== idOf(events[0])) throw wrong(last, 'another response ends than began')
  if (response['status'] !== ending) throw wrong(last, 'the status is not the event')
  const open = items.find(({ done }) => done === null)
  if (open) throw wrong(open.item, 'the item never ended')
  same(
    response['output'],
    items.map(({ done }) => done),
    'the output is not the items',
  )
  same(response['output_text'], textOf(items), 'output_text')
  return { events, response, ending }
}

function framesOf(sse: string): Json[] {
  if (!sse.endsWith('data: [DONE]\n\n')) throw new Error(`no [DONE] at the end: ${sse.slice(-200)}`)
  return sse
    .slice(0, -'data: [DONE]\n\n'.length)
    .split('\n\n')
    .slice(0, -1)
    .map((frame) => {
      const match = /^(?:event: ([^\n]+)\n)?data: ([^\n\r\u0085\u2028\u2029]+)$/.exec(frame)
      if (!match) throw new Error(`not an event: ${JSON.stringify(frame.slice(0, 200))}`)
      const event: unknown = JSON.parse(match[2] ?? '')
      if (!isObject(event)) throw new Error('not an object')
      if (event['type'] !== match[1]) throw wrong(event, `the line says ${match[1]}`)
      return event
    })
}

function begins(event: Json, type: string): void {
  if (event['type'] !== type) throw wrong(event, `should be ${type}`)
  const { response } = event
  if (!isObject(response) || response['status'] !== 'in_progress') throw wrong(event, 'should be in progress')
  same(response['output'], [], 'the output is not empty')
}

function checkEvent(event: Json, items: OpenItem[]): void {
  const type = String(event['type'])
  if (TERMINAL.test(type) || LIFECYCLE.includes(type)) throw wrong(event, 'in the midst')
  if (type === 'response.output_item.added') {
    added(event, items)
    return
  }
  if (event['output_index'] === undefined) return
  const open = items[Number(event['output_index'])]
  if (!open) throw wrong(event, 'no item has this index')
  if (open.done !== null) throw wrong(event, 'the item has ended')
  if ('item_id' in event && event['item_id'] !== open.item['id'])
    throw wrong(event, 'another item has this id')
  if (type === 'response.output_item.done') {
    done(event, open)
    return
  }
  const [, subject = '', step = ''] = /^response\.([a-z_]+)\.([a-z.]+)$/.exec(type) ?? []
  if (subject in PARTS) checkPart(event, PARTS[subject] ?? '', step, open)
  else if (subject === 'audio' && step === 'transcript.delta') checkPart(event, 'content', 'delta', open)
  else if (subject === 'content_part' || subject === 'reasoning_summary_part') checkShell(event, step, open)
  else if (subject === 'function_call_arguments') checkCall(event, step, 'arguments', open)
  else if (subject === 'custom_tool_call_input') checkCall(event, step, 'input', open)
}

const PARTS: Record<string, string> = {
  output_text: 'content',
  refusal: 'content',
  reasoning_text: 'content',
  reasoning_summary_text: 'summary',
}

function added(event: Json, items: OpenItem[]): void {
  const { item, output_index } = event
  if (!isObject(item) || typeof item['id'] !== 'string' || item['id'] === '') throw wrong(event, 'no id')
  if (output_index !== items.length) throw wrong(event, `output_index should be ${items.length}`)
  if (items.some((each) => each.item['id'] === item['id'])) throw wrong(event, 'the id is taken')
  if (item['type'] === 'message') same(item['content'], [], 'a message begins empty')
  items.push({ item, index: items.length, parts: new Map(), written: null, done: null })
}

function keyOf(event: Json, kind: string): string {
  const index = event[kind === 'summary' ? 'summary_index' : 'content_index']
  if (!Number.isInteger(index)) throw wrong(event, 'no index')
  return `${kind} ${index}`
}

function checkShell(event: Json, step: string, open: OpenItem): void {
  const kind = String(event['type']).includes('summary') ? 'summary' : 'content'
  const key = keyOf(event, kind)
  const { part } = event
  if (!isObject(part)) throw wrong(event, 'no part')
  const text = String(part['text'] ?? part['refusal'] ?? part['transcript'] ?? '')
  if (step === 'added') {
    const count = [...open.parts.keys()].filter((each) => each.startsWith(kind)).length
    if (key !== `${kind} ${count}` || text !== '')
      throw wrong(event, 'a part begins empty, and after the last')
    if ([...open.parts.values()].some(({ isDone }) => !isDone)) throw wrong(event, 'another part is open')
    open.parts.set(key, { text: '', annotations: [], isDone: false })
    return
  }
  const known = open.parts.get(key)
  if (!known || known.isDone) throw wrong(event, 'no such part is open')
  if (part['type'] !== 'output_audio') same(text, known.text, 'the part has another text')
  if (Array.isArray(part['annotations'])) {
    // A provider of this dialect may add fields in its last event.
    const shown = part['annotations'].map((each, i) => ({ ...each, ...Object(known.annotations[i]) }))
    same(shown, part['annotations'], 'annotations')
  }
  known.isDone = true
}

function checkPart(event: Json, kind: string, step: string, open: OpenItem): void {
  const known = open.parts.get(keyOf(event, kind))
  if (!known || known.isDone) throw wrong(event, 'no such part is open')
  if (step === 'delta') known.text += String(event['delta'])
  else if (step === 'done') same(event['text'] ?? event['refusal'], known.text, 'the text is not its deltas')
  else if (step === 'annotation.added') {
    if (event['annotation_index'] !== known.annotations.length) throw wrong(event, 'annotation_index')
    known.annotations.push(event['annotation'])
  }
  if (String(event['type']).startsWith('response.output_text') && step !== 'annotation.added')
    if (!Array.isArray(event['logprobs'])) throw wrong(event, 'logprobs are required')
}

function checkCall(event: Json, step: string, field: string, open: OpenItem): void {
  open.written ??= ''
  if (step === 'delta') {
    open.written += String(event['delta'])
    return
  }
  same(event[field], open.written, 'the call is not its deltas')
  if (field === 'arguments' && typeof event['name'] !== 'string') throw wrong(event, 'name is required')
}

function done(event: Json, open: OpenItem): void {
  const { item } = event
  if (!isObject(item)) throw wrong(event, 'no item')
  for (const name of ['id', 'type', 'call_id', 'name'])
    if (name in open.item) same(item[name], open.item[name], `${name} changed`)
  const unended = [...open.parts.entries()].find(([, { isDone }]) => !isDone)
  if (unended) throw wrong(event, `the part ${unended[0]} never ended`)
  for (const kind of ['content', 'summary']) {
    const texts = [...open.parts.entries()].flatMap(([key, { text }]) => (key.startsWith(kind) ? [text] : []))
    const parts: unknown = item[kind] ?? []
    if (!Array.isArray(parts)) throw wrong(event, `${kind} is not a list`)
    if (item['type'] !== 'message' && item['type'] !== 'reasoning') continue
    const shown = parts.map((part) => part.text ?? part.refusal ?? part.transcript ?? '')
    same(shown, texts, `${kind} of the item`)
  }
  if (open.written !== null)
    same(item['arguments'] ?? item['input'], open.written, 'the item is not its deltas')
  if (item['type'] === 'reasoning' && !Array.isArray(item['summary']))
    throw wrong(event, 'summary is required')
  open.done = item
}

const textOf = (items: OpenItem[]): string =>
  items
    .flatMap(({ done: item }) =>
      item?.['type'] === 'message' && Array.isArray(item['content']) ? item['content'] : [],
    )
    .map((part) => (part.type === 'output_text' ? part.text : ''))
    .join('')

const idOf = (event: Json | undefined): unknown =>
  isObject(event?.['response']) ? event['response']['id'] : undefined

function same(actual: unknown, wanted: unknown, what: string): void {
  if (!Bun.deepEquals(actual, wanted))
    throw new Error(
      `${what}: ${JSON.stringify(actual)?.slice(0, 300)} is not ${JSON.stringify(wanted)?.slice(0, 300)}`,
    )
}

const wrong = (event: Json, what: string): Error =>
  new Error(`${what}: ${JSON.stringify(event).slice(0, 400)}`)
