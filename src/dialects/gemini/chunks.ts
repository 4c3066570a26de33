import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import { nativeReasonOf } from './finish.ts'

/** Chunks of Google's streams, taken apart and put together. */

const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : [])

/** Some servers of Vertex write reasons as numbers, which clients know by their words. */
export const candidatesOf = (chunk: JsonObject): JsonObject[] =>
  listOf(chunk.candidates)
    .filter(isObject)
    .map((candidate) =>
      typeof candidate.finishReason === 'number'
        ? { ...candidate, finishReason: nativeReasonOf(candidate.finishReason) ?? 'OTHER' }
        : candidate,
    )

/** Google leaves the index of the first candidate out. */
export const indexOf = ({ index }: JsonObject, position: number): number =>
  typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : position

const partsIn = ({ content }: JsonObject): readonly unknown[] =>
  isObject(content) ? listOf(content.parts) : []

/** The chunks of one reply as the one body that it would have been: texts that go on are joined. */
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

/** A signature ends its part; an empty text that brings one belongs to the text before it. */
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

/** What the last chunk says beside the text: held back until the answer is on the ledger. */
export interface HeldEnd {
  /** By candidate. */
  readonly candidates: Map<number, JsonObject>
  /** Beside the candidates: feedback to the prompt … */
  fields: JsonObject
  usage: JsonObject
}

export const newHeldEnd = (): HeldEnd => ({ candidates: new Map(), fields: {}, usage: {} })

/**
 * A chunk without its end, which is put into `held`; undefined where nothing else is in it. Older models say STOP on
 * every chunk: the last one counts.
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
 * The `data` of `native` events of this dialect, for a writer of the same dialect: a chunk of a stream, or the whole
 * body of a reply, as it came. The neutral events of its frame say the same once more.
 *
 * `isRest`: filters have taken out of it what neutral events tell, so that both are to be written.
 */
export const isGeminiNative = (data: unknown): data is { chunk: JsonObject; isRest?: unknown } =>
  isObject(data) && isObject(data.chunk)
