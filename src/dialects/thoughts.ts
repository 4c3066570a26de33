import type { JsonObject } from '../core/events.ts'
import { isString, isText } from '../core/json.ts'
import type { Message } from '../core/request.ts'
import type { Drop } from './dropped.ts'

/** The format of Claude's reasoning details: only these may be replayed to it. */
export const REASONING_FORMAT = 'anthropic-claude-v1'

/** One thought as Claude accepts it again: signed text, or encrypted data. */
type Thought = { readonly text: string; readonly signature: string } | { readonly data: string }

/**
 * Former thoughts as they came. Pieces of a stream with one index are one thought. What other providers signed, and
 * text without a signature, cannot be replayed: it is dropped by name.
 */
export function thoughtsOf({ reasoning, reasoningDetails }: Message, drop: Drop): Thought[] {
  const thoughts: Thought[] = []
  let text = ''
  let index: unknown
  let isOpen = false
  const leave = (): void => {
    if (isOpen) drop('messages.reasoning_details')
    isOpen = false
    text = ''
  }
  for (const detail of reasoningDetails ?? []) {
    const isOurs = isOwn(detail)
    if (detail['type'] === 'reasoning.encrypted' && isOurs && isText(detail['data'])) {
      leave()
      thoughts.push({ data: detail['data'] })
    } else if (detail['type'] === 'reasoning.text' && isOurs) {
      if (detail['index'] !== index) leave()
      index = detail['index']
      isOpen = true
      text += isText(detail['text']) ? detail['text'] : ''
      if (!isText(detail['signature'])) continue
      thoughts.push({ text, signature: detail['signature'] })
      isOpen = false
      text = ''
    } else {
      drop('messages.reasoning_details')
    }
  }
  leave()
  if (reasoningDetails === undefined && isText(reasoning)) drop('messages.reasoning')
  return thoughts
}

/** True if some thought of the message is sent back. */
export const hasThoughts = ({ reasoningDetails }: Message): boolean =>
  reasoningDetails?.some(
    (detail) => isOwn(detail) && (isText(detail['signature']) || isText(detail['data'])),
  ) ?? false

const isOwn = ({ format }: JsonObject): boolean =>
  format === undefined || format === null || format === REASONING_FORMAT

/**
 * Former thoughts for a provider that takes them as plain text: unsigned ones may go back, whichever model wrote
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
