import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { isObject, textOf } from '../../core/json.ts'
import { ANSWER_TOOL } from '../claude.ts'
import { checkCalls } from '../reply-decoder.ts'
import { REASONING_FORMAT } from '../thoughts.ts'

/** What the blocks of one reply share. */
export interface Blocks {
  /** UTF-16 units of visible text so far: where the next citation begins. */
  textLength: number
  thoughts: number
  calls: number
}

export const newBlocks = (): Blocks => ({ textLength: 0, thoughts: 0, calls: 0 })

/** One block of a reply's `content` while it streams. A complete block is opened and closed. */
export interface Block {
  add(delta: JsonObject, events: InferenceEvent[]): void
  /** `wasCut`: the bound on tokens ended it, so what is missing is missing. */
  close(wasCut: boolean, events: InferenceEvent[]): void
}

/**
 * | block | events |
 * |---|---|
 * | `text` | text deltas; its citations as annotations once its end is known |
 * | `thinking` | reasoning deltas, and details `reasoning.text` with text or signature |
 * | `redacted_thinking` | a detail `reasoning.encrypted` |
 * | `tool_use` | a tool call; of the answer tool: text deltas |
 * | `server_tool_use`, its results, `fallback`, `compaction`, unknown ones | none: a writer of this dialect has them from `native` events |
 */
export function openBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  switch (raw['type']) {
    case 'text':
      return textBlock(raw, blocks, events)
    case 'thinking':
      return thinkingBlock(raw, blocks, events)
    case 'redacted_thinking': {
      const data = textOf(raw['data'])
      const index = blocks.thoughts++
      if (data !== '') addDetail({ type: 'reasoning.encrypted', data }, index, events)
      return CLOSED
    }
    case 'tool_use':
      return raw['name'] === ANSWER_TOOL ? answerBlock(raw, blocks) : callBlock(raw, blocks, events)
    default:
      return CLOSED
  }
}

const CLOSED: Block = { add: () => undefined, close: () => undefined }

function textBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  const startIndex = blocks.textLength
  const citations: unknown[] = Array.isArray(raw['citations']) ? [...raw['citations']] : []
  addText(textOf(raw['text']), blocks, events)
  return {
    add(delta, more) {
      if (delta['type'] === 'text_delta') addText(textOf(delta['text']), blocks, more)
      if (delta['type'] === 'citations_delta') citations.push(delta['citation'])
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

function addText(text: string, blocks: Blocks, events: InferenceEvent[]): void {
  if (text === '') return
  blocks.textLength += text.length
  events.push({ type: 'text-delta', choice: 0, text })
}

/** A citation of a page has an address; one of a document has places in it and is forwarded unchanged. */
function annotationOf(citation: JsonObject, startIndex: number, endIndex: number): UrlCitation | JsonObject {
  const url = textOf(citation['url']) || textOf(citation['source'])
  if (!/^https?:/i.test(url)) return { ...citation, start_index: startIndex, end_index: endIndex }
  const content = textOf(citation['cited_text'])
  return {
    type: 'url_citation',
    url,
    title: textOf(citation['title']) || url,
    ...(content === '' ? {} : { content }),
    startIndex,
    endIndex,
  }
}

function thinkingBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  const index = blocks.thoughts++
  think(textOf(raw['thinking']), textOf(raw['signature']), index, events)
  return {
    add(delta, more) {
      if (delta['type'] === 'thinking_delta') think(textOf(delta['thinking']), '', index, more)
      if (delta['type'] === 'signature_delta') think('', textOf(delta['signature']), index, more)
    },
    close: () => undefined,
  }
}

/** Pieces of one thought share their index: replayed together they are one block again. */
function think(text: string, signature: string, index: number, events: InferenceEvent[]): void {
  if (text !== '') events.push({ type: 'reasoning-delta', choice: 0, text })
  if (text === '' && signature === '') return
  addDetail(
    {
      type: 'reasoning.text',
      ...(text === '' ? {} : { text }),
      ...(signature === '' ? {} : { signature }),
    },
    index,
    events,
  )
}

const addDetail = (detail: JsonObject & { type: string }, index: number, events: InferenceEvent[]): void => {
  events.push({
    type: 'reasoning-detail',
    choice: 0,
    detail: { ...detail, format: REASONING_FORMAT, index },
  })
}

function callBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  checkCalls(blocks.calls)
  const index = blocks.calls++
  const id = textOf(raw['id']) || newToolCallId()
  events.push({ type: 'tool-call-start', choice: 0, index, id, name: textOf(raw['name']) })
  return jsonBlock(raw['input'], (json, more) =>
    more.push({ type: 'tool-call-delta', choice: 0, index, json }),
  )
}

/** The answer tool replaces a JSON schema: its input is the answer. */
const answerBlock = (raw: JsonObject, blocks: Blocks): Block =>
  jsonBlock(raw['input'], (json, more) => addText(json, blocks, more))

/** `input` is `{}` if fragments follow, else the complete input. A call without input has `{}`. */
function jsonBlock(input: unknown, tell: (json: string, events: InferenceEvent[]) => void): Block {
  let isEmpty = true
  return {
    add(delta, events) {
      const json = delta['type'] === 'input_json_delta' ? textOf(delta['partial_json']) : ''
      if (json === '') return
      isEmpty = false
      tell(json, events)
    },
    close(wasCut, events) {
      if (!isEmpty) return
      const json = isObject(input) ? JSON.stringify(input) : '{}'
      if (json !== '{}' || !wasCut) tell(json, events)
    },
  }
}
