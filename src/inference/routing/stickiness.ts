/**
 * The requests of one conversation prefer one endpoint, whose prompt cache has their prefix. A preference only: health and
 * the caller's sort and order come first.
 */
import type { Message } from '../../core/request.ts'
import type { PlanInput } from './plan-input.ts'

/** Which endpoint answered a conversation last. In memory and bounded: the oldest ones are forgotten. */
export interface Conversations {
  answered(conversation: number, endpointId: string): void
  /** Undefined: unknown, or longer ago than providers keep a prefix. */
  endpointOf(conversation: number): string | undefined
}

const MOST_CONVERSATIONS = 16_384
/** Providers keep a prefix for 5 to 10 minutes after its last use. */
const KEPT_MS = 10 * 60_000

export function createConversations(now: () => number): Conversations {
  /** In the order of their last answers. */
  const answers = new Map<number, { endpointId: string; at: number }>()
  return {
    answered(conversation, endpointId) {
      answers.delete(conversation)
      answers.set(conversation, { endpointId, at: now() })
      if (answers.size <= MOST_CONVERSATIONS) return
      for (const oldest of answers.keys()) {
        answers.delete(oldest)
        break
      }
    },
    endpointOf(conversation) {
      const answer = answers.get(conversation)
      return answer === undefined || now() - answer.at > KEPT_MS ? undefined : answer.endpointId
    },
  }
}

export type Conversing = Pick<PlanInput, 'request' | 'caller'>

/**
 * A number for the conversation of a workspace with a model: by its id, else by its beginning, which is the system prompt
 * and the user's first message. Null if the request has neither.
 */
export function conversationOf(input: Conversing): number | null {
  const { request, caller } = input
  const id = idOf(input)
  const { messages = [], models } = request
  const inModel = hash(models[0] ?? '', hash(caller.workspace.id))
  if (id !== undefined) return hash(id, inModel)
  const first = firstOfUser(messages)
  if (first === -1) return null
  let prefix = inModel
  for (let index = 0; index <= first; index++) prefix = hash(beginningOf(messages[index]), prefix)
  return prefix
}

/** The endpoint that answered the request's conversation last. Undefined for the first request of one without an id. */
export function formerEndpoint(input: PlanInput): string | undefined {
  if (input.answeredBy === undefined || stickyBy(input) === null) return undefined
  const conversation = conversationOf(input)
  return conversation === null ? undefined : input.answeredBy(conversation)
}

/** What makes the request prefer an endpoint: the id of its conversation, or its earlier turns. Null: nothing. */
export function stickyBy(input: Pick<PlanInput, 'request'>): 'session' | 'prefix' | null {
  if (idOf(input) !== undefined) return 'session'
  const { messages = [] } = input.request
  return firstOfUser(messages) < messages.length - 1 ? 'prefix' : null
}

/**
 * Chance, as a function of a name: in (0, 1]. A conversation with an id has the same draw for the same name each time, so
 * that its requests go to the same endpoint after a restart too, and whatever other endpoints there are.
 */
export function drawsOf(input: Pick<PlanInput, 'request' | 'caller' | 'random'>): (name: string) => number {
  const conversation = idOf(input) === undefined ? null : conversationOf(input)
  return conversation === null ? input.random : (name) => (hash(name, conversation) + 1) / 4_294_967_296
}

/**
 * Identifies a conversation by its `session_id`. For agents that do not send one: `prompt_cache_key` in OpenAI's APIs,
 * and `metadata.user_id` in Anthropic's, which contains Claude Code's session.
 */
function idOf({
  request: { sessionId, apiType, body, user },
}: Pick<PlanInput, 'request'>): string | undefined {
  if (sessionId !== undefined) return sessionId
  const { prompt_cache_key: key } = body
  if (typeof key === 'string' && key !== '') return key
  return apiType === 'messages' && user !== '' ? user : undefined
}

/** The user's first message follows the system prompt, of one message or a few. */
const MOST_BEFORE_USER = 8

function firstOfUser(messages: readonly Message[]): number {
  for (let index = 0; index < Math.min(messages.length, MOST_BEFORE_USER); index++) {
    if (messages[index]?.role === 'user') return index
  }
  return -1
}

const MOST_CHARACTERS = 1_024

/** The beginning of a message and its length, so that long messages that begin alike are distinguished. */
function beginningOf(message: Message | undefined): string {
  const content = message?.content ?? ''
  if (typeof content === 'string') return `${content.length} ${content.slice(0, MOST_CHARACTERS)}`
  const text = content.find((part) => part.type === 'text')
  return `${content.length} ${text?.text.length ?? 0} ${text?.text.slice(0, MOST_CHARACTERS) ?? ''}`
}

const hash = (text: string, seed = 0): number => Bun.hash.xxHash32(text, seed)
