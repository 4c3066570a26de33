import type { RoutedRequest } from '../../core/request.ts'

/**
 * The source of randomness for ordering endpoints. Seeded by the conversation, so that its requests go to the same
 * endpoint while the set of endpoints is unchanged, and hit that endpoint's prompt cache.
 */
export function randomFor(request: RoutedRequest, random: () => number): () => number {
  const name = conversationOf(request)
  return name === undefined ? random : seededRandom(name)
}

/**
 * Identifies a conversation by its `session_id`. For agents that do not send one: `prompt_cache_key` in OpenAI's APIs,
 * and `metadata.user_id` in Anthropic's, which contains Claude Code's session.
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
