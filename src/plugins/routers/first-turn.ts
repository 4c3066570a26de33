import type { InferenceRequest } from '../../core/request.ts'

/**
 * The text of the user's first turn: the same in every turn of a conversation, so that its model stays the same, and with
 * it the provider's prompt cache.
 */
export function textOfFirstTurn({ messages }: InferenceRequest): string {
  const content = messages.find(({ role }) => role === 'user')?.content ?? ''
  if (typeof content === 'string') return content
  return content.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n')
}
