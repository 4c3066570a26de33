import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { asList, fieldsOf, isObject, isString, isText } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { hasUnsignedTurn, type Traits } from '../claude.ts'
import { type Drop, leaveOut } from '../dropped.ts'
import { isSealed } from '../opaque.ts'
import { sourceOf } from './build-content.ts'
import { callIdOf, isBlank, NOT_SENT, OWN_BLOCK } from './fields.ts'
import { messagesBody } from './schema.ts'

/**
 * The body of a caller of this dialect for a provider of it: what the caller sent, unknown fields at every level
 * included, without the gateway's fields. Thoughts and citations of other providers, which the gateway had sealed,
 * are taken out. Never changes `request`.
 */
export function ownBody(
  request: InferenceRequest,
  attempt: Attempt,
  traits: Traits,
  bound: number,
  drop: Drop,
): JsonObject {
  const { messages, hasLostThoughts } = forwardedMessages(request.body.messages, drop)
  const body: JsonObject = { ...forwardedFields(request.body), model: attempt.endpoint.upstreamId, messages }
  if (request.stream) body.stream = true
  applyUser(body, request)
  applyBound(body, request, bound, drop)
  if (hasLostThoughts && isBudgeted(body) && hasUnsignedTurn(request.messages)) {
    // The API continues to think only if a turn of calls begins with the thoughts that led to it.
    delete body.thinking
    drop('thinking')
  }
  for (const name of traits.takesSampling ? [] : SAMPLING) {
    if (body[name] === undefined) continue
    delete body[name]
    drop(name)
  }
  return body
}

const SAMPLING = ['temperature', 'top_p', 'top_k']

/** Of fields that we know a null means the same as absent, and the API refuses some of them. */
function forwardedFields(body: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(body).filter(([name, value]) => {
      if (name === 'fallbacks') return isString(value)
      return !NOT_SENT.has(name) && !(value === null && Object.hasOwn(messagesBody.properties, name))
    }),
  )
}

/** The gateway's `user` is the API's `metadata.user_id`. */
function applyUser(body: JsonObject, { user }: InferenceRequest): void {
  const metadata = fieldsOf(body.metadata)
  if (user !== undefined && !isText(metadata.user_id)) body.metadata = { ...metadata, user_id: user }
}

const isBudgeted = ({ thinking }: JsonObject): boolean => isObject(thinking) && thinking.type === 'enabled'

const LEAST_BUDGET = 1_024

/** If the caller set no bound, ours must leave room for the caller's budget. */
function applyBound(body: JsonObject, request: InferenceRequest, bound: number, drop: Drop): void {
  const { thinking } = body
  body.max_tokens = bound
  if (request.maxOutputTokens !== undefined || !isObject(thinking) || !isBudgeted(body)) return
  if (Number(thinking.budget_tokens) < bound) return
  drop('thinking.budget_tokens')
  if (bound > LEAST_BUDGET) body.thinking = { ...thinking, budget_tokens: bound - 1 }
  else delete body.thinking
}

/**
 * The messages of a caller of this dialect for a provider of it. What came from providers of other dialects in former
 * turns means nothing to this one: sealed thoughts and citations are taken out and named, images of answers too, blank
 * texts of answers go, and ids of calls get the characters that the API takes. Everything else is the caller's own.
 */
function forwardedMessages(messages: unknown, drop: Drop): { messages: unknown; hasLostThoughts: boolean } {
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

/** A message without any remaining content is dropped as well. */
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
      return isOwnTool(block) ? leaveOut(`messages.content.${String(block.type)}`, drop) : [block]
  }
}

/** What the gateway's own tools did in former turns: only Anthropic's tools mean something to Anthropic. */
const isOwnTool = ({ id, tool_use_id }: JsonObject): boolean =>
  [id, tool_use_id].some((each) => isString(each) && each.startsWith(OWN_BLOCK))

function withoutSealed(block: JsonObject, drop: Drop): JsonObject {
  const citations = asList(block.citations)
  const own = citations.filter((citation) => !isObject(citation) || !isOurs(citation))
  if (own.length === citations.length) return block
  drop('messages.content.citations')
  const { citations: _, ...rest } = block
  return own.length === 0 ? rest : { ...rest, citations: own }
}

/** Of a page of another provider's search, or of an uploaded file that the gateway has searched. */
const isOurs = ({ encrypted_index, source }: JsonObject): boolean =>
  isSealed(encrypted_index) || (isString(source) && /^file_[0-9a-f]{32}$/.test(source))

/** An address whose content the gateway has fetched holds a data URL. */
function withContent(block: JsonObject): JsonObject {
  const { source } = block
  if (!isObject(source) || source.type !== 'url' || !isString(source.url)) return block
  return /^data:/i.test(source.url) ? { ...block, source: fetchedSource(source.url, block.type) } : block
}

/** Text documents are sent as text: in base64 the API accepts only PDF. */
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
