import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { asText, fieldsOf, isObject, isString, objectsIn, parseJson } from '../../core/json.ts'
import { ANSWER_TOOL } from '../claude.ts'
import { checkCalls } from '../reply-decoder.ts'
import { REASONING_FORMAT } from '../thoughts.ts'
import { annotationOf } from './decode-citation.ts'
import { readRedacted, readToolName } from './names.ts'

/** The shared state of the blocks of one reply. */
export interface Blocks {
  /** UTF-16 units of visible text so far. */
  textLength: number
  /** The start of the text that a citation without text of its own belongs to. */
  citedFrom: number
  thoughts: number
  calls: number
}

export const newBlocks = (): Blocks => ({ textLength: 0, citedFrom: 0, thoughts: 0, calls: 0 })

/**
 * One content block while it arrives. In a stream only calls, results and images have a start; the first delta shows the
 * type of the others. A complete block is its own delta.
 */
export interface Block {
  add(delta: JsonObject, events: InferenceEvent[]): void
  /** `wasTruncated`: the bound on tokens ended it, so incomplete arguments stay incomplete. */
  close(wasTruncated: boolean, events: InferenceEvent[]): void
}

/**
 * | block | events |
 * |---|---|
 * | `text`, `citationsContent` | text deltas; citations as annotations once the end of their text is known |
 * | `reasoningContent` | reasoning deltas, details `reasoning.text` and `reasoning.encrypted` |
 * | `toolUse` | a tool call; of the answer tool: text deltas |
 * | `toolUse` and `toolResult` of tools that run at AWS (`server_tool_use`) | `native`, complete |
 * | `image` | an image |
 */
export function openBlock(start: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  const { toolUse, toolResult } = start
  if (isObject(toolUse)) {
    if (toolUse['type'] === 'server_tool_use') return nativeBlock('toolUse', toolUse)
    return toolUse['name'] === ANSWER_TOOL ? answerBlock(blocks) : callBlock(toolUse, blocks, events)
  }
  if (isObject(toolResult)) return nativeBlock('toolResult', toolResult)
  return spokenBlock(start, blocks)
}

/** A block of a reply that was not streamed. */
export function readBlock(
  raw: JsonObject,
  blocks: Blocks,
  wasTruncated: boolean,
  events: InferenceEvent[],
): void {
  const block = openBlock(raw, blocks, events)
  block.add(raw, events)
  block.close(wasTruncated, events)
}

/** Text, citations, thoughts and images: the deltas show which. */
function spokenBlock(start: JsonObject, blocks: Blocks): Block {
  const startIndex = blocks.textLength
  const imageFormat = fieldsOf(start['image'])['format']
  const citations: JsonObject[] = []
  let thought: number | undefined
  return {
    add(delta, events) {
      const { text, reasoningContent, citation, citationsContent, image } = delta
      addText(textOf(text), blocks, events)
      if (isObject(reasoningContent)) {
        thought ??= blocks.thoughts++
        readThought(reasoningContent, thought, events)
      }
      if (isObject(citation)) citations.push(citation)
      if (isObject(citationsContent)) {
        for (const piece of objectsIn(citationsContent['content']))
          addText(textOf(piece['text']), blocks, events)
        for (const each of objectsIn(citationsContent['citations'])) citations.push(each)
      }
      if (isObject(image)) readImage(image, imageFormat, events)
    },
    close(_, events) {
      if (blocks.textLength > startIndex) blocks.citedFrom = startIndex
      for (const citation of citations) {
        const annotation = annotationOf(citation, blocks.citedFrom, blocks.textLength)
        events.push({ type: 'annotation', choice: 0, annotation })
      }
    },
  }
}

function addText(text: string, blocks: Blocks, events: InferenceEvent[]): void {
  if (text === '') return
  blocks.textLength += text.length
  events.push({ type: 'text-delta', choice: 0, text })
}

/** Pieces of one thought share their index, so that a replay can join them. */
function readThought(content: JsonObject, index: number, events: InferenceEvent[]): void {
  const whole = isObject(content['reasoningText']) ? content['reasoningText'] : content
  const text = textOf(whole['text'])
  const signature = textOf(whole['signature'])
  if (text !== '') events.push({ type: 'reasoning-delta', choice: 0, text })
  if (text !== '' || signature !== '') {
    const detail = {
      type: 'reasoning.text',
      ...(text === '' ? {} : { text }),
      // Only Claude signs its thoughts; those of other models have no format for a replay.
      ...(signature === '' ? {} : { signature, format: REASONING_FORMAT }),
      index,
    }
    events.push({ type: 'reasoning-detail', choice: 0, detail })
  }
  const redacted = textOf(content['redactedContent'])
  if (redacted === '') return
  const detail = {
    type: 'reasoning.encrypted',
    data: readRedacted(redacted),
    format: REASONING_FORMAT,
    index,
  }
  events.push({ type: 'reasoning-detail', choice: 0, detail })
}

function readImage(image: JsonObject, startFormat: unknown, events: InferenceEvent[]): void {
  const bytes = isObject(image['source']) ? textOf(image['source']['bytes']) : ''
  if (bytes === '') return
  const format = textOf(image['format']) || textOf(startFormat) || 'png'
  events.push({ type: 'image', choice: 0, url: `data:image/${format};base64,${bytes}` })
}

function callBlock(raw: JsonObject, blocks: Blocks, events: InferenceEvent[]): Block {
  checkCalls(blocks.calls)
  const index = blocks.calls++
  const id = textOf(raw['toolUseId']) || newToolCallId()
  events.push({ type: 'tool-call-start', choice: 0, index, id, name: readToolName(textOf(raw['name'])) })
  return inputBlock((json, more) => more.push({ type: 'tool-call-delta', choice: 0, index, json }))
}

/** The answer tool carries a JSON schema: its input is the answer. */
const answerBlock = (blocks: Blocks): Block => inputBlock((json, more) => addText(json, blocks, more))

/** The input is an object in a body and fragments of JSON in a stream. A call without input is `{}`. */
function inputBlock(emit: (json: string, events: InferenceEvent[]) => void): Block {
  let isEmpty = true
  return {
    add({ toolUse }, events) {
      const json = isObject(toolUse) ? jsonOf(toolUse['input']) : ''
      if (json === '') return
      isEmpty = false
      emit(json, events)
    },
    close(wasTruncated, events) {
      if (isEmpty && !wasTruncated) emit('{}', events)
    },
  }
}

function jsonOf(input: unknown): string {
  if (isString(input)) return input
  return input === undefined || input === null ? '' : JSON.stringify(input)
}

/** A tool that runs at AWS, for a writer of this dialect. */
function nativeBlock(name: 'toolUse' | 'toolResult', start: JsonObject): Block {
  let json = ''
  const content: unknown[] = []
  return {
    add(delta) {
      const { toolUse, toolResult } = delta
      if (isObject(toolUse) && toolUse !== start) json += jsonOf(toolUse['input'])
      if (Array.isArray(toolResult)) for (const piece of toolResult) content.push(piece)
    },
    close(_, events) {
      const complete = {
        ...start,
        ...(json === '' ? {} : { input: parseJson(json) ?? json }),
        ...(content.length === 0 ? {} : { content }),
      }
      events.push({ type: 'native', dialect: 'converse', data: { [name]: complete } })
    },
  }
}

const textOf = (value: unknown): string => asText(value) ?? ''
