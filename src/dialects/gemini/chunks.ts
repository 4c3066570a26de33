import type { JsonObject } from '../../core/events.ts'
import { asList, isObject, isString } from '../../core/json.ts'
import { nativeReasonOf } from './errors.ts'

/** Splits and merges chunks of Google's streams. */

/** Some servers of Vertex write finish reasons as numbers; clients expect their names. */
export const candidatesOf = (chunk: JsonObject): JsonObject[] =>
  asList(chunk.candidates)
    .filter(isObject)
    .map((candidate) =>
      typeof candidate.finishReason === 'number'
        ? { ...candidate, finishReason: nativeReasonOf(candidate.finishReason) ?? 'OTHER' }
        : candidate,
    )

/** Google omits the index of the first candidate. */
export const indexOf = ({ index }: JsonObject, position: number): number =>
  typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : position

const partsIn = ({ content }: JsonObject): readonly unknown[] =>
  isObject(content) ? asList(content.parts) : []

/** Merges the chunks of one reply into one body; consecutive texts are joined. */
export function mergedChunks(chunks: readonly JsonObject[]): JsonObject {
  const [first, ...more] = chunks
  if (first === undefined) return {}
  if (more.length === 0)
    return Array.isArray(first.candidates) ? { ...first, candidates: candidatesOf(first) } : first
  const merged: JsonObject = {}
  const candidates = new Map<number, { fields: JsonObject; content: JsonObject; parts: unknown[] }>()
  for (const chunk of chunks) {
    const { candidates: _, ...rest } = chunk
    Object.assign(merged, rest)
    for (const [position, candidate] of candidatesOf(chunk).entries()) {
      const index = indexOf(candidate, position)
      const known = candidates.get(index) ?? { fields: {}, content: {}, parts: [] }
      candidates.set(index, known)
      const { content, ...fields } = candidate
      Object.assign(known.fields, fields)
      if (isObject(content)) Object.assign(known.content, content)
      for (const part of partsIn(candidate)) addPart(known.parts, part)
    }
  }
  if (candidates.size > 0) {
    merged.candidates = [...candidates.values()].map(({ fields, content, parts }) => ({
      content: { ...content, parts },
      ...fields,
    }))
  }
  return merged
}

/** The same parts, consecutive texts joined. */
export function joinedParts(parts: readonly JsonObject[]): JsonObject[] {
  const joined: JsonObject[] = []
  for (const part of parts) addPart(joined, part)
  return joined
}

/** A signature ends its part; an empty text with one belongs to the text before it. */
function addPart(parts: unknown[], part: unknown): void {
  const last = parts.at(-1)
  if (!isPlainText(part)) {
    parts.push(part)
    return
  }
  if (part.text === '' && part.thoughtSignature === undefined) return
  if (!isPlainText(last) || last.thoughtSignature !== undefined || last.thought !== part.thought)
    parts.push(part)
  else parts[parts.length - 1] = { ...last, ...part, text: String(last.text) + String(part.text) }
}

const TEXT: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature'])

const isPlainText = (part: unknown): part is JsonObject =>
  isObject(part) && isString(part.text) && Object.keys(part).every((name) => TEXT.has(name))

/** The fields of the last chunk beside its text, held back until the generation is on the ledger. */
export interface HeldEnd {
  /** By candidate. */
  readonly candidates: Map<number, JsonObject>
  /** Beside the candidates, such as `promptFeedback`. */
  fields: JsonObject
  usage: JsonObject
}

export const newHeldEnd = (): HeldEnd => ({ candidates: new Map(), fields: {}, usage: {} })

/**
 * Moves the end of a chunk into `held` and returns the rest; undefined if nothing remains. Older models say STOP on every
 * chunk: the last one counts.
 */
export function withoutEnd(chunk: JsonObject, held: HeldEnd): JsonObject | undefined {
  const { candidates: _, usageMetadata, promptFeedback, ...rest } = chunk
  if (isObject(usageMetadata)) held.usage = usageMetadata
  if (promptFeedback !== undefined) held.fields = { ...held.fields, promptFeedback }
  const kept = candidatesOf(chunk).flatMap((candidate, position) => {
    const index = indexOf(candidate, position)
    const { content, ...fields } = candidate
    const isEnd = fields.finishReason !== undefined && fields.finishReason !== null
    if (!isEnd) {
      if (!held.candidates.has(index)) held.candidates.set(index, {})
      return [candidate]
    }
    held.candidates.set(index, { ...held.candidates.get(index), ...fields, index })
    return partsIn(candidate).some(saysSomething) ? [{ content, index }] : []
  })
  if (kept.length === 0) {
    held.fields = { ...held.fields, ...rest }
    return undefined
  }
  return { ...rest, candidates: kept, ...(isObject(usageMetadata) ? { usageMetadata } : {}) }
}

const saysSomething = (part: unknown): boolean =>
  !isPlainText(part) || part.text !== '' || part.thoughtSignature !== undefined

/**
 * The `data` of `native` events of this dialect, for a writer of the same dialect: a chunk of a stream, or the complete
 * body of a reply, unchanged. The neutral events of its frame repeat its content.
 *
 * `isRest`: filters removed the content that the neutral events carry, so both must be written.
 */
export const isGeminiNative = (data: unknown): data is { chunk: JsonObject; isRest?: unknown } =>
  isObject(data) && isObject(data.chunk)
