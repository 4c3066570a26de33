import { dataUrlHead } from '../../core/data-url.ts'
import type { Annotation, FileCitation, InferenceEvent, JsonObject } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import { words } from '../../core/words.ts'
import { isFileCitation } from '../citation.ts'
import { createJsonEnd } from '../json-text.ts'
import { seal } from '../opaque.ts'
import { piecesOf } from './write-native.ts'
import { writeServerTool } from './write-server-tool.ts'
import { addBlock, addDelta, type BlockState, closeBlock, type OpenCall, startBlock } from './write-state.ts'
import { writeThoughts } from './write-thoughts.ts'

/**
 * Writes the events of one frame as content blocks.
 *
 * | event | block |
 * |---|---|
 * | text, refusal | `text`: what Anthropic's clients show of a refusal is its text |
 * | reasoning, its details of Claude | `thinking` with its signature, `redacted_thinking` |
 * | details of others | `thinking` whose signature holds the detail, `redacted_thinking` whose data does (opaque.ts) |
 * | tool call | `tool_use` with `input_json_delta` |
 * | annotation | a citation of the text: `web_search_result_location`, of a file `search_result_location`, or as it came |
 * | image | `image`: no block of Anthropic's replies, but one of its requests |
 * | a block of the provider's own tools | the block |
 * | audio, logprobs | none: `lost` names them |
 *
 * Events that interrupt a call wait until its arguments are complete: blocks do not interleave.
 */
export function writeBlocks(events: readonly InferenceEvent[], state: BlockState): void {
  // Thoughts come before the calls that they led to, as Anthropic has them.
  if (state.open?.kind !== 'call' && events.some(isThought)) {
    writeThoughts(events, state)
    for (const event of events) if (!isThought(event)) write(event, state)
    return
  }
  for (const event of events) write(event, state)
}

/** Closes the open block, then writes the events that waited. */
export function endBlocks(state: BlockState): void {
  while (state.open?.kind === 'call') {
    closeBlock(state)
    resume(state)
  }
  if (state.citations.length > 0) openText(state)
  closeBlock(state)
}

const isThought = ({ type }: InferenceEvent): boolean =>
  type === 'reasoning-delta' || type === 'reasoning-detail'

function write(event: InferenceEvent, state: BlockState): void {
  const { open } = state
  if (open?.kind === 'call' && !isSilent(event)) {
    if (event.type === 'tool-call-delta' && event.index === open.call) {
      addArguments(event.json, open, state)
      return
    }
    if (!isComplete(open)) {
      wait(event, state)
      return
    }
    closeBlock(state)
  }
  writeNow(event, state)
}

/** Pieces of a call that waits wait with it: a reply may have very many calls, and each event is put off once. */
function wait(event: InferenceEvent, state: BlockState): void {
  if (event.type === 'tool-call-delta') {
    state.waitingCalls.get(event.index)?.pieces.push(event.json)
    return
  }
  const waiting = { event, pieces: [] }
  state.waiting.push(waiting)
  if (event.type === 'tool-call-start') state.waitingCalls.set(event.index, waiting)
}

/** True for events without content. */
const isSilent = ({ type }: InferenceEvent): boolean =>
  type === 'usage' || type === 'native' || type === 'response-start' || type === 'response-end'

function writeNow(event: InferenceEvent, state: BlockState): void {
  switch (event.type) {
    case 'text-delta':
      addText(event.text, state)
      break
    case 'refusal-delta':
      state.refusal += event.text
      addText(event.text, state)
      break
    case 'reasoning-delta':
    case 'reasoning-detail':
      writeThoughts([event], state)
      break
    case 'tool-call-start': {
      const { id, name, extra } = event
      startBlock(
        state,
        {
          kind: 'call',
          call: event.index,
          hasJson: false,
          end: createJsonEnd(),
          isText: extra?.type === 'custom',
        },
        { type: 'tool_use', id, name: state.longNames.get(name) ?? name, input: {} },
      )
      break
    }
    case 'annotation':
      addCitation(event.annotation, state)
      break
    case 'server-tool':
      writeServerTool(event.call, state)
      break
    case 'own-piece':
      writeOwnBlock(event.data, state)
      break
    case 'image':
      addBlock(state, { type: 'image', source: sourceOf(event.url) })
      break
    case 'audio-delta':
      state.lost.add('audio')
      break
    case 'logprobs':
      state.lost.add('logprobs')
  }
}

function writeOwnBlock(block: JsonObject, state: BlockState): void {
  const { begun, deltas } = piecesOf(block)
  closeBlock(state)
  state.sink.start(state.started++, begun)
  for (const delta of deltas) addDelta(state, delta)
  state.sink.stop(state.started - 1)
}

function addText(text: string, state: BlockState): void {
  if (text === '') return
  openText(state)
  addDelta(state, { type: 'text_delta', text })
}

export function openText(state: BlockState): void {
  if (state.open?.kind === 'text') return
  startBlock(state, { kind: 'text' }, { type: 'text', text: '' })
  for (const citation of state.citations) addDelta(state, { type: 'citations_delta', citation })
  state.citations = []
}

/** Citations of kinds that Anthropic does not have break its clients: they are left out, and named. */
function addCitation(annotation: Annotation, state: BlockState): void {
  const citation = citationOf(annotation, state)
  if (CITATIONS.has(citation.type)) cite(citation, state)
  else state.lost.add(`annotations.${String(citation.type)}`)
}

const CITATIONS: ReadonlySet<unknown> = new Set(
  words(`
  char_location page_location content_block_location web_search_result_location search_result_location
`),
)

function cite(citation: JsonObject, state: BlockState): void {
  if (state.open?.kind === 'text') addDelta(state, { type: 'citations_delta', citation })
  else state.citations.push(citation)
}

/** Anthropic's citations have their text and no place in it: the place is kept in the string that clients replay. */
function citationOf(annotation: Annotation, state: BlockState): JsonObject {
  if (isFileCitation(annotation)) return fileCitation(annotation, state)
  const { url, title, content, startIndex, endIndex } = annotation
  if (!isString(url) || startIndex === undefined) return { ...annotation }
  return {
    type: 'web_search_result_location',
    url,
    title,
    cited_text: content ?? '',
    encrypted_index: seal({ start_index: startIndex, end_index: endIndex }),
  }
}

/** A search result of one block, counted in the order in which the reply cites the files. */
function fileCitation({ fileId, filename, content }: FileCitation, { citedFiles }: BlockState): JsonObject {
  citedFiles.add(fileId)
  return {
    type: 'search_result_location',
    source: fileId,
    title: filename,
    cited_text: content,
    search_result_index: [...citedFiles].indexOf(fileId),
    start_block_index: 0,
    end_block_index: 1,
  }
}

function sourceOf(url: string): JsonObject {
  const head = dataUrlHead(url)
  if (!head?.isBase64) return { type: 'url', url }
  return { type: 'base64', media_type: head.mediaType, data: url.slice(head.length) }
}

function addArguments(json: string, open: OpenCall, state: BlockState): void {
  writeArguments(json, open, state)
  if (state.resumed === state.waiting.length || !isComplete(open)) return
  closeBlock(state)
  resume(state)
}

function writeArguments(json: string, open: OpenCall, state: BlockState): void {
  if (json === '') return
  const head = open.isText && !open.hasJson ? '{"input":"' : ''
  open.hasJson = true
  open.end.push(json)
  const piece = open.isText ? JSON.stringify(json).slice(1, -1) : json
  addDelta(state, { type: 'input_json_delta', partial_json: head + piece })
}

/** Writes waiting events, up to an incomplete call. */
function resume(state: BlockState): void {
  const { waiting, waitingCalls } = state
  for (let next = waiting[state.resumed]; next; next = waiting[state.resumed]) {
    const { event, pieces } = next
    const { open } = state
    if (open?.kind === 'call') {
      if (!isComplete(open)) return
      closeBlock(state)
    }
    state.resumed++
    writeNow(event, state)
    if (event.type !== 'tool-call-start') continue
    waitingCalls.delete(event.index)
    if (state.open?.kind === 'call') for (const piece of pieces) writeArguments(piece, state.open, state)
  }
  state.waiting = []
  state.resumed = 0
}

/** The end of text shows only when something else comes. */
const isComplete = ({ end, isText }: OpenCall): boolean => isText || end.isObject()
