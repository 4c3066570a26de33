import type { JsonObject } from '../../core/events.ts'
import { defined, isObject } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { estimateTokens } from '../../core/usage.ts'
import type { ContextCut, DialectCall, Egress, MadeContext } from '../dialect.ts'
import type { Place } from './build-contents.ts'
import { isMark } from './build-parts.ts'

/**
 * Where a call of `generateContent` can be cut in two: what a `cachedContents` resource holds, and what is asked
 * behind it. The system instruction, the tools and their settings are in the resource or in the call, never in both:
 * Google refuses a call that names a cache and brings any of them (AI Studio's and Vertex's reference, 2026).
 *
 * | marked with `cache_control` | kept at most |
 * |---|---|
 * | a tool, a system message | system instruction and tools |
 * | a part or a message of the user | the contents up to it |
 * | an answer, a result, the whole body | the contents up to the last question before it |
 *
 * The rest always begins with a question of the user, never with the results of calls: Google wants those right behind
 * the call. So of a mark on the last message the message itself is not kept. Shorter beginnings, up to each question,
 * are cuts too: a former turn may have had them kept. Sound and video are never kept: to write them has no known price.
 */
export function cutsOf(call: DialectCall, marks: readonly Place[]): ContextCut[] {
  const { contents } = call.body
  if (!Array.isArray(contents)) return []
  const questions = lastQuestions(contents)
  const marked = new Set(marks.flatMap((mark) => nameOf(askedBefore(contents, questions, mark)) ?? []))
  const { systemInstruction, tools, toolConfig } = call.body
  const cuts: ContextCut[] = []
  const whole = lengthOf([systemInstruction, tools, contents])
  let adds = JSON.stringify([modelOf(call.path), systemInstruction, tools, toolConfig])
  let length = lengthOf([systemInstruction, tools])
  const cutHere = (place: Place): void => {
    const isMarked = marked.delete(nameOf(place) ?? '')
    if (!isMarked && (place.part > 0 || questions[place.content] !== place.content)) return
    if (place.content === 0 && place.part === 0 && systemInstruction === undefined && tools === undefined)
      return
    cuts.push(
      cutAt(call, contents, place, {
        adds,
        tokens: estimateTokens(length),
        share: length / whole,
        isMarked,
      }),
    )
    adds = ''
  }
  for (let content = 0; content < contents.length && marked.size > 0; content++) {
    cutHere({ content, part: 0 })
    adds += `\n${isObject(contents[content]) ? String(contents[content]['role']) : ''}`
    for (const [index, part] of partsOf(contents[content]).entries()) {
      if (isTimed(part)) return cuts
      if (index > 0) cutHere({ content, part: index })
      adds += `\n${JSON.stringify(part)}`
      length += lengthOf(part)
    }
  }
  return cuts
}

/** All marks of a request: those in the contents, and those that only the request tells of. */
export function placesOf({ tools, body }: InferenceRequest, inContents: readonly Place[]): Place[] {
  const isToolMarked = tools.some((tool) => isMark(tool.type === 'other' ? tool.data : tool.extra))
  return [
    ...(isToolMarked ? [{ content: 0, part: 0 }] : []),
    ...inContents,
    ...(isMark(body) ? [{ content: Number.POSITIVE_INFINITY, part: 0 }] : []),
  ]
}

const nameOf = (place: Place | null): string | null => place && `${place.content} ${place.part}`

/** The place itself where a question goes on there, else the beginning of the last one before it; null: there is none. */
function askedBefore(
  contents: readonly unknown[],
  questions: readonly number[],
  { content, part }: Place,
): Place | null {
  const parts = partsOf(contents[content])
  if (part > 0 && part < parts.length && questions[content] === content) return { content, part }
  const isWhole = part > 0 && part >= parts.length
  const last = questions[Math.min(isWhole ? content + 1 : content, contents.length - 1)] ?? NONE
  return last === NONE ? null : { content: last, part: 0 }
}

const partsOf = (content: unknown): readonly unknown[] =>
  isObject(content) && Array.isArray(content['parts']) ? content['parts'] : []

const NONE = -1

/** Of each content the last question up to it. */
function lastQuestions(contents: readonly unknown[]): number[] {
  let last = NONE
  return contents.map((content, at) => {
    if (isQuestion(content)) last = at
    return last
  })
}

const isQuestion = (content: unknown): boolean =>
  isObject(content) &&
  content['role'] === 'user' &&
  !partsOf(content).some((part) => isObject(part) && part['functionResponse'] !== undefined)

/** Sound, and video with its sound. */
function isTimed(part: unknown): boolean {
  const media = isObject(part) ? (part['inlineData'] ?? part['fileData']) : undefined
  if (!isObject(media)) return false
  const type = media['mimeType']
  // What an address leads to may be anything.
  return typeof type !== 'string' || /^(?:audio|video)\//.test(type)
}

function cutAt(
  call: DialectCall,
  contents: readonly unknown[],
  { content, part }: Place,
  about: Pick<ContextCut, 'adds' | 'tokens' | 'share' | 'isMarked'>,
): ContextCut {
  const { systemInstruction, tools, toolConfig, contents: _, ...rest } = call.body
  const parts = partsOf(contents[content])
  // Written only for the one cut that is used: together the beginnings are as long as the square of the prompt.
  const before = (): unknown[] => [
    ...contents.slice(0, content),
    ...(part > 0 ? [{ role: 'user', parts: parts.slice(0, part) }] : []),
  ]
  const behind = (): unknown[] =>
    part > 0
      ? [{ role: 'user', parts: parts.slice(part) }, ...contents.slice(content + 1)]
      : contents.slice(content)
  return {
    ...about,
    make: (ttlSeconds) => ({
      path: '/cachedContents',
      headers: {},
      body: defined({
        model: modelOf(call.path),
        systemInstruction,
        tools,
        toolConfig,
        contents: content > 0 || part > 0 ? before() : undefined,
        ttl: `${ttlSeconds}s`,
      }),
      dropped: [],
    }),
    bodyWith: (name) => ({ cachedContent: name, contents: behind(), ...rest }),
  }
}

/** `/models/gemini-2.5-pro:generateContent` → `models/gemini-2.5-pro`. */
const modelOf = (path: string): string => decodeURIComponent(path.slice(1, path.lastIndexOf(':')))

/** Google counts 258 tokens for an image or a page; what base64 comes to says nothing of either. */
const PICTURE_LENGTH = 4 * 258
const PAGE_BYTES = 50_000

/** As many characters of text as it comes to. */
function lengthOfMedia(media: JsonObject): number {
  const { mimeType, data } = media
  const bytes = typeof data === 'string' ? Math.ceil((data.length * 3) / 4) : 0
  if (typeof mimeType === 'string' && mimeType.startsWith('text/')) return bytes
  return mimeType === 'application/pdf' ? Math.ceil(bytes / PAGE_BYTES) * PICTURE_LENGTH : PICTURE_LENGTH
}

/** Characters of all texts, and what media come to. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + lengthOf(each), 0)
  if (!isObject(value)) return 1
  const media = value['inlineData'] ?? value['fileData']
  if (isObject(media)) return lengthOfMedia(media)
  let length = 0
  for (const [name, each] of Object.entries(value)) length += name.length + lengthOf(each)
  return length
}

/** The reply of `cachedContents`: `{name, usageMetadata: {totalTokenCount}, …}`. */
function read(body: unknown): MadeContext | null {
  if (!isObject(body) || typeof body['name'] !== 'string' || body['name'] === '') return null
  const usage = body['usageMetadata']
  const count = isObject(usage) ? usage['totalTokenCount'] : undefined
  return { name: body['name'], tokens: Number.isSafeInteger(count) ? Number(count) : null }
}

export const contextCache = {
  read,
  // AI Studio: `Cached content is too small. total_token_count=1500, min_total_token_count=4096`; Vertex: `The cached
  // content is of 1171 tokens. The minimum token count to start caching is 4096.`
  isTooShort: ({ status, reason }) =>
    status === 400 && /too small|min_total_token_count|minimum token count/i.test(reason),
} satisfies Egress['contextCache']
