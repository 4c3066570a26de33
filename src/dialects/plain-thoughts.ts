import type { JsonObject } from '../core/events.ts'
import { isString } from '../core/json.ts'
import type { Message } from '../core/request.ts'

/**
 * Former thoughts for a provider that takes them as plain text: those that nobody signed may go back whoever wrote
 * them. Pieces of one index are one thought. `rest`: details that are something else, or that others signed.
 */
export function plainThoughts(
  { reasoning, reasoningDetails }: Pick<Message, 'reasoning' | 'reasoningDetails'>,
  ownFormat?: string,
): { thoughts: string[]; rest: JsonObject[] } {
  const thoughts: string[] = []
  const rest: JsonObject[] = []
  let last: unknown
  for (const detail of reasoningDetails ?? []) {
    const { type, format, text, signature, index } = detail
    const isOpen = format === ownFormat || format === 'unknown' || format === undefined || format === null
    if (type !== 'reasoning.text' || !isString(text) || !isOpen || isString(signature)) {
      rest.push(detail)
      continue
    }
    if (index !== last || thoughts.length === 0) thoughts.push('')
    thoughts[thoughts.length - 1] += text
    last = index
  }
  if (reasoningDetails === undefined && reasoning !== undefined) thoughts.push(reasoning)
  return { thoughts: thoughts.filter((thought) => thought !== ''), rest }
}
