import type { Finish, InferenceEvent, JsonObject, UrlCitation } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { checkAnnotations } from '../reply-decoder.ts'
import { bytePlaces } from '../text-places.ts'
import { createFunctionCalls, type FunctionCalls } from './decode-calls.ts'
import { finishReasonOf, nativeReasonOf } from './finish.ts'
import { signatureDetail, thoughtDetail } from './signatures.ts'

/** What is remembered of one candidate between chunks. */
export interface CandidateState {
  readonly index: number
  readonly calls: FunctionCalls
  readonly grounding: Grounding
  /** Google's word, the last that was told: older models say STOP on every chunk. */
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
  const content = isObject(raw['content']) ? raw['content'] : {}
  const parts = Array.isArray(content['parts']) ? content['parts'] : []
  for (const part of parts) if (isObject(part)) readPart(part, state, events)
  if (events.length > before) state.hasContent = true
  state.grounding.addSources(raw, events)
  readLogprobs(raw['logprobsResult'], state.index, events)
  state.native = nativeReasonOf(raw['finishReason']) ?? state.native
}

/** A signature may stand on a part that is otherwise empty: it is what the next turn needs. */
function readPart(part: JsonObject, state: CandidateState, events: InferenceEvent[]): void {
  const { text, functionCall, inlineData, fileData } = part
  const signature = signatureOf(part)
  if (isObject(functionCall)) {
    state.calls.add(functionCall, signature, events)
    return
  }
  const isThought = part['thought'] === true
  if (isString(text) && text !== '') readText(text, isThought, state, events)
  // What an image model draws while it thinks is no answer.
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

function signatureOf(part: JsonObject): string | undefined {
  const signature = part['thoughtSignature'] ?? part['thought_signature']
  return isString(signature) && signature !== '' ? signature : undefined
}

/** The sources of one candidate, each told once although chunks repeat them. */
interface Grounding {
  /** More of the answer's text: Google counts places in it in UTF-8 bytes, we in characters. */
  addText(text: string): void
  /** `groundingMetadata` and `citationMetadata` of a candidate. */
  addSources(candidate: JsonObject, events: InferenceEvent[]): void
  /** Searches that were made so far. */
  searches(): number
}

function createGrounding(choice: number): Grounding {
  const told = new Set<string>()
  const queries = new Set<string>()
  const text = bytePlaces()

  function tell(citation: Omit<UrlCitation, 'type'>, events: InferenceEvent[]): void {
    const key = `${citation.startIndex} ${citation.endIndex} ${citation.url}`
    if (told.has(key)) return
    told.add(key)
    events.push({ type: 'annotation', choice, annotation: { type: 'url_citation', ...citation } })
  }

  function placesOf({ startIndex, endIndex }: JsonObject) {
    if (!isIndex(endIndex)) return { startIndex: 0, endIndex: 0 }
    const charactersTo = (end: number): number => Math.min(text.length, text.unitsTo(end))
    return {
      startIndex: isIndex(startIndex) ? charactersTo(startIndex) : 0,
      endIndex: charactersTo(endIndex),
    }
  }

  function addSupports(metadata: JsonObject, events: InferenceEvent[]): void {
    checkAnnotations(listOf(metadata['groundingChunks']).length)
    checkAnnotations(listOf(metadata['groundingSupports']).length)
    const chunks = listOf(metadata['groundingChunks']).map(sourceOf)
    const supported = new Set<unknown>()
    for (const support of listOf(metadata['groundingSupports'])) {
      if (!isObject(support)) continue
      const segment = isObject(support['segment']) ? support['segment'] : {}
      const content = isString(segment['text']) && segment['text'] !== '' ? { content: segment['text'] } : {}
      for (const index of listOf(support['groundingChunkIndices'])) {
        const source = typeof index === 'number' ? chunks[index] : undefined
        supported.add(index)
        if (source) tell({ ...source, ...content, ...placesOf(segment) }, events)
      }
    }
    chunks.forEach((source, index) => {
      if (source && !supported.has(index)) tell({ ...source, startIndex: 0, endIndex: 0 }, events)
    })
    for (const query of listOf(metadata['webSearchQueries'])) {
      if (isString(query) && query !== '') queries.add(query)
    }
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
        for (const raw of listOf(citationMetadata[name])) {
          checkAnnotations(told.size)
          const source = isObject(raw) ? namedSource(raw) : undefined
          if (source && isObject(raw)) tell({ ...source, ...placesOf(raw) }, events)
        }
      }
    },
    searches: () => queries.size,
  }
}

/** A chunk is of the web, of a document store, or of maps. */
function sourceOf(chunk: unknown): { url: string; title: string } | undefined {
  if (!isObject(chunk)) return undefined
  const source = [chunk['web'], chunk['retrievedContext'], chunk['maps']].find(isObject)
  return source && namedSource(source)
}

function namedSource({ uri, title }: JsonObject): { url: string; title: string } | undefined {
  if (!isString(uri) || uri === '') return undefined
  return { url: uri, title: isString(title) && title !== '' ? title : uri }
}

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

const isIndex = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/** `logprobsResult` → OpenAI's `logprobs.content`: the token that was chosen, and the likeliest in its place. */
function readLogprobs(raw: unknown, choice: number, events: InferenceEvent[]): void {
  if (!isObject(raw) || !Array.isArray(raw['chosenCandidates'])) return
  const tops = Array.isArray(raw['topCandidates']) ? raw['topCandidates'] : []
  const content = raw['chosenCandidates'].flatMap((chosen, i) => {
    const entry = readToken(chosen)
    const top: unknown = tops[i]
    const candidates = isObject(top) && Array.isArray(top['candidates']) ? top['candidates'] : []
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

/** The inverse: OpenAI's `logprobs` → `logprobsResult`; undefined where they hold none. */
export function writeLogprobs(logprobs: JsonObject): JsonObject | undefined {
  const content: unknown[] = Array.isArray(logprobs['content']) ? logprobs['content'] : []
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
