import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import {
  asText,
  defined,
  fieldsOf,
  isObject,
  isString,
  objectsIn,
  parseJson,
  textOf,
} from '../../core/json.ts'
import { urlCitation } from '../citation.ts'
import { addRedacted, addText, addThought, type Block, type Blocks, callBlock } from '../claude-blocks.ts'
import { REASONING_FORMAT } from '../thoughts.ts'
import { readRedacted, readToolName } from './names.ts'

/** The shared state of the blocks of one reply. */
export interface ConverseBlocks extends Blocks {
  /** The start of the text that a citation without text of its own belongs to. */
  citedFrom: number
}

/**
 * In a stream only calls, results and images have a start; the first delta shows the type of the others. A complete
 * block is its own delta.
 *
 * | block | events |
 * |---|---|
 * | `text`, `citationsContent` | text deltas; citations as annotations once the end of their text is known |
 * | `reasoningContent` | reasoning deltas, details `reasoning.text` and `reasoning.encrypted` |
 * | `toolUse` | a tool call; of the answer tool: text deltas |
 * | `toolUse` and `toolResult` of tools that run at AWS (`server_tool_use`) | `native`, complete |
 * | `image` | an image |
 */
export function openBlock(start: JsonObject, blocks: ConverseBlocks, events: InferenceEvent[]): Block {
  const { toolUse, toolResult } = start
  if (isObject(toolUse)) {
    if (toolUse['type'] === 'server_tool_use') return nativeBlock('toolUse', toolUse)
    const { toolUseId, name } = toolUse
    const call = { id: textOf(toolUseId), name: readToolName(textOf(name)), input: undefined, fragmentOf }
    return callBlock(call, blocks, events)
  }
  if (isObject(toolResult)) return nativeBlock('toolResult', toolResult)
  return spokenBlock(start, blocks)
}

/** A block of a reply that was not streamed. */
export function readBlock(
  raw: JsonObject,
  blocks: ConverseBlocks,
  wasTruncated: boolean,
  events: InferenceEvent[],
): void {
  const block = openBlock(raw, blocks, events)
  block.add(raw, events)
  block.close(wasTruncated, events)
}

/** Text, citations, thoughts and images: the deltas show which. */
function spokenBlock(start: JsonObject, blocks: ConverseBlocks): Block {
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

function readThought(content: JsonObject, index: number, events: InferenceEvent[]): void {
  const complete = isObject(content['reasoningText']) ? content['reasoningText'] : content
  const signature = textOf(complete['signature'])
  // Only Claude signs its thoughts; those of other models have no format for a replay.
  const format = signature === '' ? undefined : REASONING_FORMAT
  addThought(textOf(complete['text']), signature, index, format, events)
  const redacted = textOf(content['redactedContent'])
  if (redacted !== '') addRedacted(readRedacted(redacted), index, events)
}

function readImage(image: JsonObject, startFormat: unknown, events: InferenceEvent[]): void {
  const bytes = isObject(image['source']) ? textOf(image['source']['bytes']) : ''
  if (bytes === '') return
  const format = textOf(image['format']) || textOf(startFormat) || 'png'
  events.push({ type: 'image', choice: 0, url: `data:image/${format};base64,${bytes}` })
}

/** The input is an object in a body and fragments of JSON in a stream. */
const fragmentOf = ({ toolUse }: JsonObject): string => (isObject(toolUse) ? jsonOf(toolUse['input']) : '')

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

/**
 * | location | annotation |
 * |---|---|
 * | `web` | `url_citation` |
 * | `documentChar` | `char_location` |
 * | `documentPage` | `page_location` |
 * | `documentChunk` | `content_block_location` |
 * | `searchResultLocation` | `search_result_location` |
 *
 * Citations of documents come from Claude, so they get Anthropic's names.
 */
const PLACES = {
  documentChar: { type: 'char_location', start: 'start_char_index', end: 'end_char_index' },
  documentPage: { type: 'page_location', start: 'start_page_number', end: 'end_page_number' },
  documentChunk: { type: 'content_block_location', start: 'start_block_index', end: 'end_block_index' },
  searchResultLocation: {
    type: 'search_result_location',
    start: 'start_block_index',
    end: 'end_block_index',
  },
} as const

/** `startIndex`, `endIndex`: the cited piece of the answer, in UTF-16 units. */
function annotationOf(citation: JsonObject, startIndex: number, endIndex: number): UrlCitation | JsonObject {
  const location = fieldsOf(citation['location'])
  const title = asText(citation['title'])
  const content = quoteOf(citation['sourceContent'])
  const url = addressOf(location, citation['source'])
  if (url !== undefined) return urlCitation(url, title, content, { startIndex, endIndex })
  return defined({
    ...placeOf(location, title),
    cited_text: content === '' ? undefined : content,
    start_index: startIndex,
    end_index: endIndex,
  })
}

/** A page on the web: from Nova's grounding, or the source of a search result that the caller sent. */
function addressOf({ web }: JsonObject, source: unknown): string | undefined {
  const url = isObject(web) ? web['url'] : source
  return isString(url) && /^https?:/i.test(url) ? url : undefined
}

function placeOf(location: JsonObject, title: string | undefined): JsonObject {
  for (const [name, { type, start, end }] of Object.entries(PLACES)) {
    const place = location[name]
    if (!isObject(place)) continue
    const isSearch = name === 'searchResultLocation'
    return {
      type,
      [start]: place['start'],
      [end]: place['end'],
      ...(isSearch
        ? { search_result_index: place['searchResultIndex'], title }
        : { document_index: place['documentIndex'], document_title: title }),
    }
  }
  return { type: 'citation', location, title }
}

const quoteOf = (pieces: unknown): string =>
  objectsIn(pieces)
    .map(({ text }) => asText(text) ?? '')
    .join('')
