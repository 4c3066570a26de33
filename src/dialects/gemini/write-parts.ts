import type { Carrier } from '../../core/carrier.ts'
import type { Annotation, InferenceEvent, JsonObject } from '../../core/events.ts'
import { asObject, fieldsOf, isObject, isString, parseUnchecked } from '../../core/json.ts'
import type { ReplyContext } from '../../core/result.ts'
import { isFileCitation, placeOf } from '../citation.ts'
import { isNoArguments } from '../json-text.ts'
import { longNames } from '../tool-names.ts'
import { isOwnDetail, joinedDetails, sealDetails } from './signatures.ts'

/** The state of one candidate while it is written. */
export interface CandidateParts {
  readonly index: number
  readonly cited: CitedText
  readonly showsThoughts: boolean
  readonly carrier: Carrier | undefined
  readonly longNames: ReadonlyMap<string, string>
  /** Calls under way, by their index. */
  readonly calls: Map<number, { id: string; name: string; json: string[] }>
  /** Reasoning details of providers of other dialects, until they are sealed. */
  foreign: JsonObject[]
  /** Signatures of Google's, by call. */
  readonly signatures: Map<string, string>
  /** Calls whose arguments are not a JSON object. */
  readonly malformed: string[]
  /** Names of content that this dialect has no place for. */
  readonly lost: Set<string>
}

export const newParts = (index: number, { request }: ReplyContext): CandidateParts => ({
  index,
  cited: createCitedText(),
  showsThoughts: showsThoughts(request.body),
  carrier: request.carrier,
  longNames: longNames(request.body),
  calls: new Map(),
  foreign: [],
  signatures: new Map(),
  malformed: [],
  lost: new Set(),
})

/** Google returns thoughts only if the caller asks for them. */
function showsThoughts({ generationConfig }: JsonObject): boolean {
  const thinking = fieldsOf(generationConfig).thinkingConfig
  return isObject(thinking) && thinking.includeThoughts === true
}

/**
 * The parts that an event adds now. A call is one part, so it waits in `calls` until the answer is complete
 * (`endParts`); a truncated answer has no calls.
 *
 * | event | part |
 * |---|---|
 * | text, refusal | `text` |
 * | reasoning | `text` with `thought`, if the caller asked for thoughts |
 * | details of Google's reasoning | `thoughtSignature` on its call, or on an empty text |
 * | details of other providers | sealed in the `thoughtSignature` of the first call, or of the end |
 * | image, sound | `inlineData` or `fileData` |
 * | citation | `groundingMetadata` of the end |
 * | a part of the provider's own tools | the part |
 */
export function partsOf(event: InferenceEvent, state: CandidateParts): JsonObject[] {
  switch (event.type) {
    case 'text-delta':
      state.cited.addText(event.text)
      return textPart(event.text)
    case 'refusal-delta':
      return textPart(event.text)
    case 'reasoning-delta':
      return state.showsThoughts && event.text !== '' ? [{ text: event.text, thought: true }] : []
    case 'reasoning-detail':
      return detailParts(event.detail, state)
    case 'tool-call-start':
      state.calls.set(event.index, { id: event.id, name: event.name, json: [] })
      return []
    case 'tool-call-delta':
      state.calls.get(event.index)?.json.push(event.json)
      return []
    case 'annotation':
      cite(event.annotation, state)
      return []
    case 'image':
      return [mediaPart(event.url)]
    case 'audio-delta':
      return soundParts(event.audio, state)
    case 'own-piece':
      return [event.data]
    default:
      return []
  }
}

const textPart = (text: string): JsonObject[] => (text === '' ? [] : [{ text }])

function detailParts(detail: JsonObject, state: CandidateParts): JsonObject[] {
  if (!isOwnDetail(detail)) {
    state.foreign.push(detail)
    return []
  }
  // The text of a thought comes as `reasoning-delta` as well.
  if (detail.type !== 'reasoning.encrypted' || !isString(detail.data)) return []
  if (isString(detail.id)) {
    state.signatures.set(detail.id, detail.data)
    return []
  }
  return [{ text: '', thoughtSignature: detail.data }]
}

function cite(annotation: Annotation, { cited, lost }: CandidateParts): void {
  if (isFileCitation(annotation)) {
    const { fileId: url, filename: title, content, startIndex: start, endIndex: end } = annotation
    cited.cite({ url, title, content, start, end })
    return
  }
  const { type, url, title, startIndex, endIndex } = annotation
  if (type !== 'url_citation' || !isString(url)) {
    lost.add('annotations')
    return
  }
  const places = { start: placeOf(startIndex), end: placeOf(endIndex) }
  cited.cite({ url, title: isString(title) ? title : url, ...places })
}

const DATA_URL = /^data:([^;,]*);base64,/i

function mediaPart(url: string): JsonObject {
  const head = DATA_URL.exec(url)
  if (!head) return { fileData: { fileUri: url, mimeType: 'image/*' } }
  return { inlineData: { mimeType: head[1] || 'image/png', data: url.slice(head[0].length) } }
}

function soundParts({ data, mime_type: type, transcript }: JsonObject, state: CandidateParts): JsonObject[] {
  const spoken = isString(transcript) ? textPart(transcript) : []
  if (!isString(data) || data === '') return spoken
  if (isString(type)) return [...spoken, { inlineData: { mimeType: type, data } }]
  state.lost.add('audio')
  return spoken
}

/** The parts that waited: the calls, the first of which carries the sealed thoughts that led to it. */
export function endParts(state: CandidateParts): JsonObject[] {
  const parts = [...state.calls.values()].flatMap((call) => callParts(call, state))
  state.calls.clear()
  if (state.foreign.length === 0) return parts
  const thoughtSignature = sealDetails(joinedDetails(state.foreign), state.carrier)
  state.foreign = []
  const [first, ...more] = parts
  if (!first) return [{ text: '', thoughtSignature }]
  return [{ ...first, thoughtSignature }, ...more]
}

function callParts(
  { id, name, json }: { id: string; name: string; json: string[] },
  { longNames, signatures, malformed }: CandidateParts,
): JsonObject[] {
  const text = json.join('')
  const own = longNames.get(name) ?? name
  const args = argumentsOf(text)
  if (args === undefined) {
    malformed.push(`${own}(${text.slice(0, MOST_SHOWN)})`)
    return []
  }
  const signature = signatures.get(id)
  return [
    {
      functionCall: { id, name: own, args },
      ...(signature === undefined ? {} : { thoughtSignature: signature }),
    },
  ]
}

const MOST_SHOWN = 1_000

function argumentsOf(json: string): JsonObject | undefined {
  return isNoArguments(json) ? {} : asObject(parseUnchecked(json))
}

interface Citation {
  url: string
  title: string
  /** Of a file: the beginning of the passage. */
  content?: string
  /** Characters of the text. */
  start: number
  end: number
}

/** A text and its citations in Google's form, which counts places in bytes of UTF-8. */
interface CitedText {
  addText(text: string): void
  cite(citation: Citation): void
  /** `groundingMetadata`; undefined without citations. */
  grounding(): JsonObject | undefined
}

/** More than any answer cites. Further ones are skipped, so that the reply stays bounded. */
const MOST_CITATIONS = 10_000

function createCitedText(): CitedText {
  const pieces: string[] = []
  const citations: Citation[] = []
  return {
    addText(text) {
      pieces.push(text)
    },
    cite(citation) {
      if (citations.length < MOST_CITATIONS) citations.push(citation)
    },
    grounding() {
      if (citations.length === 0) return undefined
      const text = pieces.join('')
      const bytesTo = byteCounter(text, citations)
      const chunks = new Map<string, number>()
      const groundingChunks: JsonObject[] = []
      const groundingSupports: JsonObject[] = []
      for (const { url, title, content, start, end } of citations) {
        let at = chunks.get(url)
        if (at === undefined) {
          const source = { uri: url, title }
          at =
            groundingChunks.push(
              content === undefined ? { web: source } : { retrievedContext: { ...source, text: content } },
            ) - 1
          chunks.set(url, at)
        }
        if (end <= start) continue
        groundingSupports.push({
          segment: { startIndex: bytesTo(start), endIndex: bytesTo(end), text: text.slice(start, end) },
          groundingChunkIndices: [at],
        })
      }
      return { groundingChunks, ...(groundingSupports.length > 0 ? { groundingSupports } : {}) }
    },
  }
}

/** Bytes up to each cited place, in one pass over the text. */
function byteCounter(text: string, citations: readonly Citation[]): (place: number) => number {
  const places = [...new Set(citations.flatMap(({ start, end }) => [start, end]))].sort((a, b) => a - b)
  const counted = new Map<number, number>()
  let at = 0
  let bytes = 0
  for (const place of places) {
    const end = Math.min(Math.max(place, at), text.length)
    bytes += Buffer.byteLength(text.slice(at, end))
    at = end
    counted.set(place, bytes)
  }
  return (place) => counted.get(place) ?? 0
}
