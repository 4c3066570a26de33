import type { RoutedRequest } from '../../core/request.ts'

/**
 * The random numbers by which endpoints share the requests: of one conversation they are the same each time, so that it
 * goes to the same endpoint as long as the choice is the same, and finds its beginning in that one's cache.
 */
export function randomFor(request: RoutedRequest, random: () => number): () => number {
  const name = conversationOf(request)
  return name === undefined ? random : seededRandom(name)
}

/**
 * Identifies a conversation: the caller's `session_id`, else the fields of agents that send none. In OpenAI's APIs that
 * is `prompt_cache_key`; in Anthropic's `metadata.user_id`, in which Claude Code names the session.
 */
function conversationOf({ sessionId, apiType, body, user }: RoutedRequest): string | undefined {
  if (sessionId !== undefined) return sessionId
  const { prompt_cache_key: key } = body
  if (typeof key === 'string' && key !== '') return key
  return apiType === 'messages' && user !== '' ? user : undefined
}

function seededRandom(name: string): () => number {
  let state = Number(BigInt(Bun.hash(name)) & 0xffffffffn)
  return () => {
    // mulberry32
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}
