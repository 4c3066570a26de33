import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { asList, isObject, textOf } from '../../core/json.ts'
import { urlCitation } from '../citation.ts'
import { addRedacted, addText, addThought, type Block, type Blocks, callBlock } from '../claude-blocks.ts'
import { ownPiece } from '../own-pieces.ts'
import { checkAnnotations } from '../reply-decoder.ts'
import { REASONING_FORMAT } from '../thoughts.ts'
import { isOwnBlock } from './fields.ts'
import { createCollector } from './write-native.ts'

/**
 * | block | events |
 * |---|---|
 * | `text` | text deltas; its citations as annotations once its end is known |
 * | `thinking` | reasoning deltas, and details `reasoning.text` with text or signature |
 * | `redacted_thinking` | a detail `reasoning.encrypted` |
 * | `tool_use` | a tool call; of the answer tool: text deltas |
 * | `server_tool_use`, its results, `compaction` | none: a writer of this dialect has them from `native` events; and an own piece, once complete |
 * | `fallback`, unknown ones | none |
 */
export function openBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  switch (raw['type']) {
    case 'text':
      return textBlock(raw, blocks, events)
    case 'thinking':
      return thinkingBlock(raw, blocks, events)
    case 'redacted_thinking':
      addRedacted(textOf(raw['data']), blocks.thoughts++, events)
      return CLOSED
    case 'tool_use':
      return callBlock(
        { id: textOf(raw['id']), name: textOf(raw['name']), input: raw['input'], fragmentOf },
        blocks,
        events,
      )
    default:
      return isOwnBlock(raw) ? ownBlock(raw) : CLOSED
  }
}

function ownBlock(raw: JsonObject): Block {
  const collector = createCollector()
  collector.start(0, raw)
  return {
    add: (delta) => collector.delta(0, delta),
    close(wasTruncated, events) {
      collector.stop(0)
      const [block = raw] = collector.content
      if (!wasTruncated) events.push(ownPiece('messages', block))
    },
  }
}

const CLOSED: Block = { add: () => undefined, close: () => undefined }

function textBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  const startIndex = blocks.textLength
  const citations: unknown[] = []
  // Counted as they come: they become annotations all at once, at the end of the block.
  const cite = (more: readonly unknown[]): void => {
    checkAnnotations(citations.length + more.length)
    citations.push(...more)
  }
  cite(asList(raw['citations']))
  addText(textOf(raw['text']), blocks, events)
  return {
    add(delta, more) {
      if (delta['type'] === 'text_delta') addText(textOf(delta['text']), blocks, more)
      if (delta['type'] === 'citations_delta') cite([delta['citation']])
    },
    close(_, more) {
      for (const citation of citations) {
        if (!isObject(citation)) continue
        const annotation = annotationOf(citation, startIndex, blocks.textLength)
        more.push({ type: 'annotation', choice: 0, annotation })
      }
    },
  }
}

/** A citation of a page has an address; one of a document has places in it and is forwarded unchanged. */
function annotationOf(citation: JsonObject, startIndex: number, endIndex: number): UrlCitation | JsonObject {
  const url = textOf(citation['url']) || textOf(citation['source'])
  if (!/^https?:/i.test(url)) return { ...citation, start_index: startIndex, end_index: endIndex }
  return urlCitation(url, citation['title'], citation['cited_text'], { startIndex, endIndex })
}

function thinkingBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  const index = blocks.thoughts++
  const add = (text: unknown, signature: unknown, more: InferenceEvent[]): void =>
    addThought(textOf(text), textOf(signature), index, REASONING_FORMAT, more)
  add(raw['thinking'], raw['signature'], events)
  return {
    add(delta, more) {
      if (delta['type'] === 'thinking_delta') add(delta['thinking'], '', more)
      if (delta['type'] === 'signature_delta') add('', delta['signature'], more)
    },
    close: () => undefined,
  }
}

const fragmentOf = ({ type, partial_json: json }: JsonObject): string =>
  type === 'input_json_delta' ? textOf(json) : ''
