import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { isSealed } from '../opaque.ts'
import { sourceOf } from './build-content.ts'
import { callIdOf, type Drop, isBlank } from './marks.ts'

/**
 * The messages of a caller of this dialect for a provider of it. What came from providers of other dialects in former
 * turns means nothing to this one: sealed thoughts and citations are taken out and named, images of answers too, blank
 * texts of answers go, and ids of calls get the characters that the API takes. Everything else is the caller's own.
 */
export function forwardedMessages(
  messages: unknown,
  drop: Drop,
): { messages: unknown; hasLostThoughts: boolean } {
  let hasLostThoughts = false
  const named: Drop = (name) => {
    hasLostThoughts ||= name === THOUGHTS
    drop(name)
  }
  const kept: unknown = Array.isArray(messages)
    ? messages.flatMap((message: unknown) => forwarded(message, named))
    : messages
  return { messages: kept, hasLostThoughts }
}

const THOUGHTS = 'messages.content.thinking'

/** A message of which nothing stays goes with it. */
function forwarded(message: unknown, drop: Drop): unknown[] {
  if (!isObject(message) || !Array.isArray(message.content)) return [message]
  const former: unknown[] = message.content
  const content = former.flatMap((block) => forwardedBlock(block, message.role, drop))
  if (content.length === former.length && content.every((block, i) => block === former[i])) return [message]
  return content.length === 0 ? [] : [{ ...message, content }]
}

function forwardedBlock(block: unknown, role: unknown, drop: Drop): unknown[] {
  if (!isObject(block)) return [block]
  switch (block.type) {
    case 'thinking':
      return isSealed(block.signature) ? leaveOut(THOUGHTS, drop) : [block]
    case 'redacted_thinking':
      return isSealed(block.data) ? leaveOut(THOUGHTS, drop) : [block]
    case 'text':
      // Models of others say blanks before they call tools.
      return role === 'assistant' && isBlank(block.text) ? [] : [withoutSealed(block, drop)]
    case 'image':
      return role === 'assistant' ? leaveOut('messages.content.image', drop) : [withContent(block)]
    case 'document':
      return [withContent(block)]
    case 'tool_use':
      return [withId(block, 'id')]
    case 'tool_result':
      return [withId(withContents(block), 'tool_use_id')]
    default:
      return [block]
  }
}

function withoutSealed(block: JsonObject, drop: Drop): JsonObject {
  const citations: unknown[] = Array.isArray(block.citations) ? block.citations : []
  const own = citations.filter((citation) => !isObject(citation) || !isSealed(citation.encrypted_index))
  if (own.length === citations.length) return block
  drop('messages.content.citations')
  const { citations: _, ...rest } = block
  return own.length === 0 ? rest : { ...rest, citations: own }
}

/** An address whose content the gateway has fetched holds a data URL. */
function withContent(block: JsonObject): JsonObject {
  const { source } = block
  if (!isObject(source) || source.type !== 'url' || !isString(source.url)) return block
  return /^data:/i.test(source.url) ? { ...block, source: fetchedSource(source.url, block.type) } : block
}

/** Documents of text are told as text: in base64 the API takes PDF alone. */
function fetchedSource(url: string, type: unknown): JsonObject {
  const source = sourceOf(url)
  if (type !== 'document' || !/^text\/|json$|xml$/.test(String(source.media_type))) return source
  const data = new TextDecoder().decode(Buffer.from(String(source.data), 'base64'))
  return { type: 'text', media_type: 'text/plain', data }
}

function withContents(block: JsonObject): JsonObject {
  if (!Array.isArray(block.content)) return block
  const former: unknown[] = block.content
  const content = former.map((each) => (isObject(each) ? withContent(each) : each))
  return content.every((each, i) => each === former[i]) ? block : { ...block, content }
}

function withId(block: JsonObject, field: 'id' | 'tool_use_id'): JsonObject {
  const id = block[field]
  const taken = isString(id) ? callIdOf(id) : id
  return taken === id ? block : { ...block, [field]: taken }
}

function leaveOut(name: string, drop: Drop): [] {
  drop(name)
  return []
}
