import { isObject } from '../../src/core/json.ts'
import { inputOf } from '../../src/dialects/claude.ts'
import { isSealed, unseal } from '../../src/dialects/opaque.ts'
import { objectOf } from '../../src/http/json.ts'

/** What a caller gets from a reply of the three APIs, streamed or not, in one form. */

export type Wire = 'chat' | 'messages' | 'responses'
type Fields = Record<string, unknown>

/** Of one choice. Order is left out: APIs have it of their own. */
interface Content {
  text: string
  reasoning: string
  /** What a later turn must replay unchanged: signatures, and what is encrypted. */
  opaque: string[]
  calls: unknown[]
  citations: unknown[]
  images: unknown[]
  /** Items and blocks of other types. */
  others: unknown[]
  end: unknown
}

/** The data of every event of a stream, or the one object of a reply that was not streamed. */
export const eventsOf = (text: string): unknown[] =>
  text.startsWith('{')
    ? [JSON.parse(text)]
    : text
        .split('\n')
        .filter((line) => line.startsWith('data: ') && line !== 'data: [DONE]')
        .map((line) => JSON.parse(line.slice('data: '.length)))

/** Ids that the gateway makes, and what was counted, are of the one generation. */
export function withoutOwn(value: unknown): unknown {
  // What is sealed differs each time.
  if (typeof value === 'string')
    return value.replace(/[0-9a-f]{32}/g, 'ID').replace(/sluice\.v2\.[\w-]+/g, 'sluice.v2.SEALED')
  if (Array.isArray(value)) return value.map(withoutOwn)
  if (!isObject(value)) return value
  const kept = Object.entries(value).filter(([name]) => name !== 'usage')
  return Object.fromEntries(kept.map(([name, each]) => [name, withoutOwn(each)]))
}

export function contentOf(wire: Wire, text: string): Content[] {
  const events = eventsOf(text).map(withoutOwn).map(objectOf)
  if (wire === 'chat') return chatContent(events)
  return [wire === 'responses' ? responseContent(objectOf(last(events))) : messageContent(messageOf(text))]
}

const last = (events: readonly Fields[]): unknown => events.at(-1)?.['response'] ?? events.at(-1)
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(objectOf) : [])
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const nothing = (): Content => ({
  text: '',
  reasoning: '',
  opaque: [],
  calls: [],
  citations: [],
  images: [],
  others: [],
  end: null,
})

function addOpaque(found: Content, value: unknown): void {
  if (typeof value !== 'string' || value === '') return
  if (!isSealed(value)) found.opaque.push(value)
  else for (const detail of listOf(unseal(value)?.['details'] ?? [unseal(value)])) addDetail(found, detail)
  found.opaque.sort()
}
function addDetail(found: Content, { signature, data, detail }: Fields): void {
  addOpaque(found, signature)
  addOpaque(found, data)
  if (isObject(detail)) addDetail(found, detail)
}

function chatContent(events: readonly Fields[]): Content[] {
  const choices: Content[] = []
  for (const choice of events.flatMap((event) => listOf(event['choices']))) {
    const at = Number(choice['index'])
    const found = choices[at] ?? nothing()
    choices[at] = found
    const { content, refusal, reasoning, reasoning_details, tool_calls, annotations, images, audio } =
      objectOf(choice['delta'] ?? choice['message'])
    found.text += stringOf(content) + stringOf(refusal)
    found.reasoning += stringOf(reasoning)
    for (const detail of listOf(reasoning_details)) addDetail(found, detail)
    found.citations.push(...listOf(annotations))
    found.images.push(...listOf(images))
    if (audio) found.others.push(audio)
    for (const [position, call] of listOf(tool_calls).entries()) addCall(found, call, position)
    const { finish_reason: reason, native_finish_reason: native } = choice
    if (reason) found.end = { reason, native }
  }
  return choices
}

function addCall(found: Content, call: Fields, position: number): void {
  const at = Number(call['index'] ?? position)
  const former = objectOf(found.calls[at])
  const { name, arguments: json, input } = objectOf(call['function'] ?? call['custom'])
  found.calls[at] = {
    id: call['id'] ?? former['id'],
    name: name ?? former['name'],
    given: `${former['given'] ?? ''}${json ?? input ?? ''}`,
  }
}

function responseContent({ output, status, incomplete_details }: Fields): Content {
  const found = { ...nothing(), end: { status, incomplete_details } }
  for (const item of listOf(output)) {
    const { type, content, summary, encrypted_content, call_id, name, arguments: json, input, result } = item
    if (type === 'message') {
      for (const { text, refusal, annotations } of listOf(content)) {
        found.text += stringOf(text) + stringOf(refusal)
        found.citations.push(...listOf(annotations))
      }
    } else if (type === 'reasoning') {
      found.reasoning += [...listOf(summary), ...listOf(content)].map(({ text }) => stringOf(text)).join('')
      addOpaque(found, encrypted_content)
    } else if (call_id !== undefined) found.calls.push({ call_id, name, given: json ?? input })
    else if (type === 'image_generation_call') found.images.push(result)
    else found.others.push(item)
  }
  return found
}

function messageContent({ content, stop_reason, stop_sequence }: Fields): Content {
  const found = { ...nothing(), end: { stop_reason, stop_sequence: stop_sequence ?? null } }
  for (const block of listOf(content)) {
    const { type, text, citations, thinking, signature, data, id, name, input, source } = block
    found.text += stringOf(text)
    found.citations.push(...listOf(citations))
    found.reasoning += stringOf(thinking)
    addOpaque(found, signature)
    addOpaque(found, data)
    if (type === 'tool_use') found.calls.push({ id, name, input })
    else if (type === 'image') found.images.push(source)
    else if (!['text', 'thinking', 'redacted_thinking'].includes(String(type))) found.others.push(block)
  }
  return found
}

/** The message that Anthropic's clients put together from a stream, or the one that came whole; null is absent. */
export const messageOf = (text: string): Fields =>
  JSON.parse(JSON.stringify(wholeMessage(text)), (_, value) => value ?? undefined)

function wholeMessage(text: string): Fields {
  const events = eventsOf(text).map(withoutOwn).map(objectOf)
  if (text.startsWith('{')) return events[0] ?? {}
  const blocks: Fields[] = []
  let message: Fields = {}
  for (const event of events) {
    const block = blocks[Number(event['index'])]
    if (event['type'] === 'message_start') message = objectOf(event['message'])
    if (event['type'] === 'content_block_start')
      blocks[Number(event['index'])] = { ...objectOf(event['content_block']) }
    if (event['type'] === 'content_block_delta' && block) addDelta(block, objectOf(event['delta']))
    if (event['type'] === 'content_block_stop' && block && 'json' in block) {
      block['input'] = inputOf(String(block['json']))
      delete block['json']
    }
    if (event['type'] === 'message_delta') message = { ...message, ...objectOf(event['delta']) }
  }
  return { ...message, content: blocks }
}

function addDelta(block: Fields, { type, ...fields }: Fields): void {
  for (const [name, value] of Object.entries(fields)) {
    if (name === 'citation') block['citations'] = [...listOf(block['citations']), objectOf(value)]
    else if (name === 'partial_json') block['json'] = `${block['json'] ?? ''}${value}`
    else if (type === 'signature_delta') block[name] = value
    else block[name] = `${block[name] ?? ''}${value}`
  }
}
