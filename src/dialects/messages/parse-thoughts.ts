import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { Message } from '../../core/request.ts'
import { REASONING_FORMAT } from '../claude-thoughts.ts'
import { isSealed, unseal } from '../opaque.ts'
import type { AssistantBlock } from './block-schema.ts'

type ThoughtBlock = Extract<AssistantBlock, { type: 'thinking' | 'redacted_thinking' }>

/** The thoughts of one assistant message: what the writer of this dialect made of reasoning details, undone. */
export interface Thoughts {
  add(block: ThoughtBlock): void
  read(): Pick<Message, 'reasoning' | 'reasoningDetails'>
}

/**
 * | block | detail |
 * |---|---|
 * | `thinking` with Anthropic's signature | `reasoning.text` with it |
 * | `thinking` with a sealed one | the detail in it, with the text |
 * | `thinking` without one | none: text alone |
 * | `redacted_thinking` of Anthropic | `reasoning.encrypted` |
 * | `redacted_thinking` that is sealed | the detail in it |
 */
export function createThoughts(): Thoughts {
  const details: JsonObject[] = []
  let reasoning = ''
  let count = 0
  return {
    add(block) {
      const index = count++
      if (block.type === 'thinking') {
        reasoning += block.thinking
        const detail = detailOf(block.thinking, block.signature ?? '', index)
        if (detail) details.push(detail)
      } else if (!isSealed(block.data)) {
        details.push({ type: 'reasoning.encrypted', data: block.data, format: REASONING_FORMAT, index })
      } else {
        const detail = unseal(block.data)
        if (isString(detail?.type)) details.push(detail)
      }
    },
    read: () => ({
      ...(reasoning === '' ? {} : { reasoning }),
      ...(details.length === 0 ? {} : { reasoningDetails: details }),
    }),
  }
}

function detailOf(text: string, signature: string, index: number): JsonObject | undefined {
  if (signature === '') return undefined
  if (!isSealed(signature)) {
    return { type: 'reasoning.text', text, signature, format: REASONING_FORMAT, index }
  }
  const detail = unseal(signature)?.detail
  if (!isObject(detail) || !isString(detail.type)) return undefined
  if (text === '') return detail
  return { ...detail, [detail.type === 'reasoning.summary' ? 'summary' : 'text']: text }
}
