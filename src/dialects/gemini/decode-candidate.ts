import type { Finish, InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import {
  asCount,
  asFilledText,
  asList,
  fieldsOf,
  isObject,
  isString,
  objectsIn,
  textsIn,
} from '../../core/json.ts'
import { ownPiece } from '../own-pieces.ts'
import { checkAnnotations } from '../reply-decoder.ts'
import { bytePlaces } from '../text-places.ts'
import { ownPartOf } from './build-parts.ts'
import { createFunctionCalls, type FunctionCalls } from './decode-calls.ts'
import { finishReasonOf, nativeReasonOf } from './errors.ts'
import { signatureDetail, thoughtDetail } from './signatures.ts'

/** The state of one candidate between chunks. */
export interface CandidateState {
  readonly index: number
  readonly calls: FunctionCalls
  readonly grounding: Grounding
  /** Google's finish reason. The last one counts: older models say STOP on every chunk. */
  native: string | null
  hasContent: boolean
}

export const newCandidate = (index: number): CandidateState => ({
  index,
  calls: createFunctionCalls(index),
  grounding: createGrounding(index),
  native: null,
  hasContent: false,
})

export const finishOf = ({ index, native, calls }: CandidateState): Finish => ({
  choice: index,
  reason: finishReasonOf(native, calls.has()),
  native,
})

/** Reads one entry of `candidates`: it may have no content, and content no parts. */
export function readCandidate(raw: JsonObject, state: CandidateState, events: InferenceEvent[]): void {
  const before = events.length
  const content = fieldsOf(raw['content'])
  const parts = asList(content['parts'])
  for (const part of parts) if (isObject(part)) readPart(part, state, events)
  if (events.slice(before).some(({ type }) => type !== 'native')) state.hasContent = true
  state.grounding.addSources(raw, events)
  readLogprobs(raw['logprobsResult'], state.index, events)
  state.native = nativeReasonOf(raw['finishReason']) ?? state.native
}

/** A part that is otherwise empty may hold a signature, which the next turn needs. */
function readPart(part: JsonObject, state: CandidateState, events: InferenceEvent[]): void {
  const { text, functionCall, inlineData, fileData } = part
  const signature = signatureOf(part)
  const own = ownPartOf(part)
  if (own !== null) events.push(ownPiece('gemini', own))
  if (isObject(functionCall)) {
    state.calls.add(functionCall, signature, events)
    return
  }
  const isThought = part['thought'] === true
  if (isString(text) && text !== '') readText(text, isThought, state, events)
  // An image model's drafts among its thoughts are not part of the answer.
  if (isObject(inlineData) && !isThought) readInline(inlineData, state.index, events)
  if (isObject(fileData) && isString(fileData['fileUri']) && /^image\//.test(String(fileData['mimeType']))) {
    events.push({ type: 'image', choice: state.index, url: fileData['fileUri'] })
  }
  if (signature !== undefined) {
    events.push({ type: 'reasoning-detail', choice: state.index, detail: signatureDetail(signature) })
  }
}

function readText(text: string, isThought: boolean, state: CandidateState, events: InferenceEvent[]): void {
  const choice = state.index
  if (isThought) {
    events.push(
      { type: 'reasoning-delta', choice, text },
      { type: 'reasoning-detail', choice, detail: thoughtDetail(text) },
    )
    return
  }
  state.calls.close(events)
  state.grounding.addText(text)
  events.push({ type: 'text-delta', choice, text })
}

/** Pictures are data URLs; speech is raw PCM (`audio/L16;rate=24000`). */
function readInline({ mimeType, data }: JsonObject, choice: number, events: InferenceEvent[]): void {
  if (!isString(mimeType) || !isString(data) || data === '') return
  if (mimeType.startsWith('image/')) {
    events.push({ type: 'image', choice, url: `data:${mimeType};base64,${data}` })
  } else if (mimeType.startsWith('audio/')) {
    events.push({ type: 'audio-delta', choice, audio: { data, mime_type: mimeType } })
  }
}

const signatureOf = (part: JsonObject): string | undefined =>
  asFilledText(part['thoughtSignature'] ?? part['thought_signature'])

/** The sources of one candidate, each reported once although chunks repeat them. */
interface Grounding {
  /** Google counts places in the text in UTF-8 bytes, Sluice in characters. */
  addText(text: string): void
  /** `groundingMetadata` and `citationMetadata` of a candidate. */
  addSources(candidate: JsonObject, events: InferenceEvent[]): void
  /** The number of searches so far. */
  searches(): number
}

function createGrounding(choice: number): Grounding {
  const reported = new Set<string>()
  const queries = new Set<string>()
  const text = bytePlaces()

  function report(citation: Omit<UrlCitation, 'type'>, events: InferenceEvent[]): void {
    const key = `${citation.startIndex} ${citation.endIndex} ${citation.url}`
    if (reported.has(key)) return
    reported.add(key)
    events.push({ type: 'annotation', choice, annotation: { type: 'url_citation', ...citation } })
  }

  function placesOf({ startIndex, endIndex }: JsonObject) {
    const end = asCount(endIndex)
    if (end === undefined) return { startIndex: 0, endIndex: 0 }
    const charactersTo = (bytes: number): number => Math.min(text.length, text.unitsTo(bytes))
    return { startIndex: charactersTo(asCount(startIndex) ?? 0), endIndex: charactersTo(end) }
  }

  function addSupports(metadata: JsonObject, events: InferenceEvent[]): void {
    checkAnnotations(asList(metadata['groundingChunks']).length)
    checkAnnotations(asList(metadata['groundingSupports']).length)
    const chunks = asList(metadata['groundingChunks']).map(sourceOf)
    const supported = new Set<unknown>()
    for (const support of objectsIn(metadata['groundingSupports'])) {
      const segment = fieldsOf(support['segment'])
      const content = isString(segment['text']) && segment['text'] !== '' ? { content: segment['text'] } : {}
      for (const index of asList(support['groundingChunkIndices'])) {
        const source = typeof index === 'number' ? chunks[index] : undefined
        supported.add(index)
        if (source) report({ ...source, ...content, ...placesOf(segment) }, events)
      }
    }
    chunks.forEach((source, index) => {
      if (source && !supported.has(index)) report({ ...source, startIndex: 0, endIndex: 0 }, events)
    })
    for (const query of textsIn(metadata['webSearchQueries'])) if (query !== '') queries.add(query)
    checkAnnotations(queries.size)
  }

  return {
    addText(more) {
      text.add(more)
    },
    addSources({ groundingMetadata, citationMetadata }, events) {
      if (isObject(groundingMetadata)) addSupports(groundingMetadata, events)
      if (!isObject(citationMetadata)) return
      // Vertex names the list `citations`, AI Studio `citationSources`.
      for (const name of ['citations', 'citationSources']) {
        for (const raw of objectsIn(citationMetadata[name])) {
          checkAnnotations(reported.size)
          const source = namedSource(raw)
          if (source) report({ ...source, ...placesOf(raw) }, events)
        }
      }
    },
    searches: () => queries.size,
  }
}

/** A chunk comes from the web, a document store, or maps. */
function sourceOf(chunk: unknown): { url: string; title: string } | undefined {
  const { web, retrievedContext, maps } = fieldsOf(chunk)
  const source = [web, retrievedContext, maps].find(isObject)
  return source && namedSource(source)
}

function namedSource({ uri, title }: JsonObject): { url: string; title: string } | undefined {
  const url = asFilledText(uri)
  return url === undefined ? undefined : { url, title: asFilledText(title) ?? url }
}

/** `logprobsResult` → OpenAI's `logprobs.content`: the chosen token and the likeliest alternatives. */
function readLogprobs(raw: unknown, choice: number, events: InferenceEvent[]): void {
  if (!isObject(raw) || !Array.isArray(raw['chosenCandidates'])) return
  const tops = asList(raw['topCandidates'])
  const content = raw['chosenCandidates'].flatMap((chosen, i) => {
    const entry = readToken(chosen)
    const top: unknown = tops[i]
    const candidates = asList(fieldsOf(top)['candidates'])
    return entry ? [{ ...entry, top_logprobs: candidates.flatMap((each) => readToken(each) ?? []) }] : []
  })
  if (content.length > 0) events.push({ type: 'logprobs', choice, logprobs: { content, refusal: null } })
}

function readToken(raw: unknown): JsonObject | undefined {
  if (!isObject(raw)) return undefined
  const { token, logProbability } = raw
  if (!isString(token) || typeof logProbability !== 'number') return undefined
  return { token, logprob: logProbability, bytes: [...Buffer.from(token)] }
}

/** The inverse: OpenAI's `logprobs` → `logprobsResult`; undefined if there are none. */
export function writeLogprobs(logprobs: JsonObject): JsonObject | undefined {
  const content = asList(logprobs['content'])
  const entries = content.filter(isObject)
  if (entries.length === 0) return undefined
  return {
    chosenCandidates: entries.map(writeToken),
    topCandidates: entries.map(({ top_logprobs: top }) => ({
      candidates: Array.isArray(top) ? top.filter(isObject).map(writeToken) : [],
    })),
  }
}

const writeToken = ({ token, logprob }: JsonObject): JsonObject => ({ token, logProbability: logprob })
