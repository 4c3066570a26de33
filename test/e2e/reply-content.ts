import { isObject } from '../../src/core/json.ts'
import { inputOf } from '../../src/dialects/claude.ts'
import { isSealed, unseal } from '../../src/dialects/opaque.ts'
import { objectOf } from '../../src/http/json.ts'

/** What a caller gets from a reply of the three APIs, streamed or not, in one form. */

export type Wire = 'chat' | 'messages' | 'responses'
type Fields = Record<string, unknown>

/** Of one choice. Order is left out: APIs have it of their own. */
interface Said {
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

export function contentOf(wire: Wire, text: string): Said[] {
  const events = eventsOf(text).map(withoutOwn).map(objectOf)
  if (wire === 'chat') return chatContent(events)
  return [wire === 'responses' ? responseContent(objectOf(last(events))) : messageContent(messageOf(text))]
}

const last = (events: readonly Fields[]): unknown => events.at(-1)?.['response'] ?? events.at(-1)
const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.map(objectOf) : [])
const stringOf = (value: unknown): string => (typeof value === 'string' ? value : '')
const nothing = (): Said => ({
  text: '',
  reasoning: '',
  opaque: [],
  calls: [],
  citations: [],
  images: [],
  others: [],
  end: null,
})

function addOpaque(said: Said, value: unknown): void {
  if (typeof value !== 'string' || value === '') return
  if (!isSealed(value)) said.opaque.push(value)
  else for (const detail of listOf(unseal(value)?.['details'] ?? [unseal(value)])) addDetail(said, detail)
  said.opaque.sort()
}
function addDetail(said: Said, { signature, data, detail }: Fields): void {
  addOpaque(said, signature)
  addOpaque(said, data)
  if (isObject(detail)) addDetail(said, detail)
}

function chatContent(events: readonly Fields[]): Said[] {
  const choices: Said[] = []
  for (const choice of events.flatMap((event) => listOf(event['choices']))) {
    const at = Number(choice['index'])
    const said = choices[at] ?? nothing()
    choices[at] = said
    const { content, refusal, reasoning, reasoning_details, tool_calls, annotations, images, audio } =
      objectOf(choice['delta'] ?? choice['message'])
    said.text += stringOf(content) + stringOf(refusal)
    said.reasoning += stringOf(reasoning)
    for (const detail of listOf(reasoning_details)) addDetail(said, detail)
    said.citations.push(...listOf(annotations))
    said.images.push(...listOf(images))
    if (audio) said.others.push(audio)
    for (const [position, call] of listOf(tool_calls).entries()) addCall(said, call, position)
    const { finish_reason: reason, native_finish_reason: native } = choice
    if (reason) said.end = { reason, native }
  }
  return choices
}

function addCall(said: Said, call: Fields, position: number): void {
  const at = Number(call['index'] ?? position)
  const former = objectOf(said.calls[at])
  const { name, arguments: json, input } = objectOf(call['function'] ?? call['custom'])
  said.calls[at] = {
    id: call['id'] ?? former['id'],
    name: name ?? former['name'],
    given: `${former['given'] ?? ''}${json ?? input ?? ''}`,
  }
}

function responseContent({ output, status, incomplete_details }: Fields): Said {
  const said = { ...nothing(), end: { status, incomplete_details } }
  for (const item of listOf(output)) {
    const { type, content, summary, encrypted_content, call_id, name, arguments: json, input, result } = item
    if (type === 'message') {
      for (const { text, refusal, annotations } of listOf(content)) {
        said.text += stringOf(text) + stringOf(refusal)
        said.citations.push(...listOf(annotations))
      }
    } else if (type === 'reasoning') {
      said.reasoning += [...listOf(summary), ...listOf(content)].map(({ text }) => stringOf(text)).join('')
      addOpaque(said, encrypted_content)
    } else if (call_id !== undefined) said.calls.push({ call_id, name, given: json ?? input })
    else if (type === 'image_generation_call') said.images.push(result)
    else said.others.push(item)
  }
  return said
}

function messageContent({ content, stop_reason, stop_sequence }: Fields): Said {
  const said = { ...nothing(), end: { stop_reason, stop_sequence: stop_sequence ?? null } }
  for (const block of listOf(content)) {
    const { type, text, citations, thinking, signature, data, id, name, input, source } = block
    said.text += stringOf(text)
    said.citations.push(...listOf(citations))
    said.reasoning += stringOf(thinking)
    addOpaque(said, signature)
    addOpaque(said, data)
    if (type === 'tool_use') said.calls.push({ id, name, input })
    else if (type === 'image') said.images.push(source)
    else if (!['text', 'thinking', 'redacted_thinking'].includes(String(type))) said.others.push(block)
  }
  return said
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
