import type { JsonObject } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import type { BlockSink } from './block-state.ts'
import { inputOf } from './build-messages.ts'

/** Puts the pieces of blocks together: the `content` of a message. */
export function createCollector(): BlockSink & { readonly content: JsonObject[] } {
  const content: JsonObject[] = []
  let json = ''
  return {
    content,
    start(index, block) {
      content[index] = { ...block, ...listOf(block.citations) }
      json = ''
    },
    delta(index, delta) {
      const block = content[index]
      if (!block) return
      if (delta.type === 'input_json_delta') json += isString(delta.partial_json) ? delta.partial_json : ''
      else add(block, delta)
    },
    stop(index) {
      const block = content[index]
      if (block && json !== '') block.input = inputOf(json)
      json = ''
    },
  }
}

/** Text grows, citations are listed, and any other field takes the place of the former one. */
function add(block: JsonObject, { type, citation, ...fields }: JsonObject): void {
  if (type === 'citations_delta') {
    if (Array.isArray(block.citations)) block.citations.push(citation)
    else block.citations = [citation]
    return
  }
  for (const [name, value] of Object.entries(fields)) {
    const former = block[name]
    const grows = (name === 'text' || name === 'thinking') && isString(former) && isString(value)
    block[name] = grows ? former + value : value
  }
}

/** A list of its own, since more is added to it. */
const listOf = (citations: unknown): JsonObject =>
  Array.isArray(citations) ? { citations: [...citations] } : {}
