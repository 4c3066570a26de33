import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { asFilledText, asText, fieldsOf, isObject, isString, objectsIn } from '../../core/json.ts'
import { urlCitation } from '../citation.ts'
import { isNull } from '../json-text.ts'
import { checkCalls } from '../reply-decoder.ts'
import { characterPlaces } from '../text-places.ts'
import { REASONING_FORMAT } from './build-messages.ts'

/** The shared state of the parts of one reply. */
export interface Content {
  readonly citations: Citations
  /** Cohere's index of a block of thoughts → its index among our details. */
  readonly thoughts: Map<number, number>
  /** Calls by Cohere's index. */
  readonly calls: Map<number, Call>
}

interface Call {
  readonly index: number
  hasArguments: boolean
}

export const newContent = (): Content => ({
  citations: createCitations(),
  thoughts: new Map(),
  calls: new Map(),
})

/**
 * | Cohere's | events |
 * |---|---|
 * | text | text deltas |
 * | `thinking` | reasoning deltas, and details `reasoning.text` |
 * | `tool_plan` | details `reasoning.summary` |
 */
export function startBlock(at: number, raw: unknown, content: Content, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  if (raw['type'] === 'thinking') thoughtAt(at, content)
  else content.citations.startText(at)
  addToBlock(at, raw, content, events)
}

export function addToBlock(at: number, raw: unknown, content: Content, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  const { text, thinking } = raw
  if (isString(thinking) && thinking !== '') {
    events.push({ type: 'reasoning-delta', choice: 0, text: thinking })
    const index = thoughtAt(at, content)
    const detail = { type: 'reasoning.text', text: thinking, format: REASONING_FORMAT, index }
    events.push({ type: 'reasoning-detail', choice: 0, detail })
  }
  if (isString(text) && text !== '') {
    content.citations.addText(text)
    events.push({ type: 'text-delta', choice: 0, text })
  }
}

/** Pieces of one block share their index, so that a replay can join them. 0 is the plan's. */
function thoughtAt(at: number, { thoughts }: Content): number {
  const known = thoughts.get(at) ?? thoughts.size + 1
  thoughts.set(at, known)
  return known
}

/** The model's plan for its tools: not part of the answer, and replayed with the calls. */
export function addPlan(plan: unknown, events: InferenceEvent[]): void {
  if (!isString(plan) || plan === '') return
  const detail = { type: 'reasoning.summary', summary: plan, format: REASONING_FORMAT, index: 0 }
  events.push({ type: 'reasoning-detail', choice: 0, detail })
}

/** Throws `malformed` for a call without a name. */
export function startCall(at: number, raw: unknown, { calls }: Content, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  const called: JsonObject = fieldsOf(raw['function'])
  const { name } = called
  if (!isString(name) || name === '') {
    throw new UpstreamError('malformed', 'a tool call of the reply has no name')
  }
  checkCalls(calls.size)
  const call: Call = { index: calls.size, hasArguments: false }
  // The index of a call that ended may be reused: the former call moves to an unused key.
  const former = calls.get(at)
  if (former) calls.set(-1 - calls.size, former)
  calls.set(at, call)
  const id = asFilledText(raw['id']) ?? newToolCallId()
  events.push({ type: 'tool-call-start', choice: 0, index: call.index, id, name })
  addArguments(at, raw, { calls }, events)
}

/** Arguments may be null, or an object in replies of some gateways. */
export function addArguments(
  at: number,
  raw: unknown,
  { calls }: Pick<Content, 'calls'>,
  events: InferenceEvent[],
): void {
  const call = calls.get(at)
  const args = fieldsOf(fieldsOf(raw)['function'])['arguments']
  const json = isObject(args) ? JSON.stringify(args) : args
  if (call === undefined || !isString(json) || json === '' || (!call.hasArguments && isNull(json))) return
  call.hasArguments = true
  events.push({ type: 'tool-call-delta', choice: 0, index: call.index, json })
}

/** A call without arguments gets `{}`, unless the bound on tokens truncated it. */
export function endCall(
  at: number,
  wasTruncated: boolean,
  { calls }: Content,
  events: InferenceEvent[],
): void {
  const call = calls.get(at)
  if (call === undefined || call.hasArguments || wasTruncated) return
  call.hasArguments = true
  events.push({ type: 'tool-call-delta', choice: 0, index: call.index, json: '{}' })
}

/** `{token_ids, text, logprobs}`, for one or more tokens, in OpenAI's form. */
export function readLogprobs(raw: unknown, events: InferenceEvent[]): void {
  const content = (Array.isArray(raw) ? raw : [raw]).flatMap((piece) => {
    const { text, logprobs } = fieldsOf(piece)
    const numbers = Array.isArray(logprobs) ? logprobs.filter((each) => typeof each === 'number') : []
    if (!isString(text) || numbers.length === 0) return []
    const logprob = numbers.reduce((sum, each) => sum + each, 0)
    return [{ token: text, logprob, bytes: [...Buffer.from(text)], top_logprobs: [] }]
  })
  if (content.length > 0) events.push({ type: 'logprobs', choice: 0, logprobs: { content, refusal: null } })
}

/** The visible text of one reply, and the citations that point into it. */
interface Citations {
  /** A block of text begins: places count from its start. */
  startText(contentIndex: number): void
  addText(text: string): void
  /** One entry of `citations`. */
  add(raw: unknown, events: InferenceEvent[]): void
}

/**
 * A source with an address becomes a `url_citation`. Documents of the caller and results of tools become one
 * `file_citation` for the citation, with Cohere's own `sources`.
 */
function createCitations(): Citations {
  const starts = new Map<number, number>()
  const text = characterPlaces()
  let lastStart = 0
  let count = 0

  /** Cohere counts characters, Sluice UTF-16 units. */
  function placesOf({ start, end, type, content_index }: JsonObject) {
    // Thoughts and plans are not visible text.
    if (isString(type) && type !== 'TEXT_CONTENT') return { startIndex: 0, endIndex: 0 }
    const from = (typeof content_index === 'number' ? starts.get(content_index) : undefined) ?? lastStart
    const unitsTo = (place: unknown): number =>
      Number.isSafeInteger(place) && Number(place) >= 0 ? text.unitsTo(Number(place), from) : 0
    return { startIndex: unitsTo(start), endIndex: unitsTo(end) }
  }

  return {
    startText(contentIndex) {
      lastStart = text.length
      starts.set(contentIndex, lastStart)
    },
    addText(more) {
      text.add(more)
    },
    add(raw, events) {
      if (!isObject(raw)) return
      const sources = objectsIn(raw['sources'])
      const places = placesOf(raw)
      const pages = sources.flatMap((source) => pageOf(source, raw['text'], places))
      for (const annotation of pages) events.push({ type: 'annotation', choice: 0, annotation })
      if (pages.length === 0) {
        const annotation = fileCitation(raw, sources, places, count)
        events.push({ type: 'annotation', choice: 0, annotation })
      }
      count++
    },
  }
}

type Places = Pick<UrlCitation, 'startIndex' | 'endIndex'>

function pageOf(source: JsonObject, cited: unknown, places: Places): UrlCitation[] {
  const { url, title } = detailsOf(source)
  if (!isString(url) || !/^https?:/i.test(url)) return []
  return [urlCitation(url, title, cited, places)]
}

function fileCitation(
  raw: JsonObject,
  sources: readonly JsonObject[],
  { startIndex, endIndex }: Places,
  index: number,
): JsonObject {
  const first = sources[0] ?? {}
  const id = asText(first['id']) ?? ''
  const { title } = detailsOf(first)
  return {
    type: 'file_citation',
    file_id: id,
    filename: asFilledText(title) ?? id,
    index,
    start_index: startIndex,
    end_index: endIndex,
    cited_text: asText(raw['text']) ?? '',
    sources,
  }
}

/** The fields of a source: a document, or the result of a tool. */
const detailsOf = (source: JsonObject): JsonObject =>
  [source['document'], source['tool_output']].find(isObject) ?? {}
