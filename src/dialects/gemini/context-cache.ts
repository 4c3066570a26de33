import type { JsonObject } from '../../core/events.ts'
import { asCount, asList, defined, fieldsOf, isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { estimateTokens } from '../../core/usage.ts'
import type { CacheBreakpoint, DialectCall, Egress, MadeContext } from '../dialect.ts'
import type { Place } from './build-contents.ts'
import { isMark } from './build-parts.ts'

/**
 * The places where a call of `generateContent` can be split: a prefix for a `cachedContents` resource, and the rest. The
 * system instruction, the tools and their settings are in the resource or in the call, never in both: Google rejects a
 * call that names a cache and has any of them (AI Studio's and Vertex's reference, 2026).
 *
 * | marked with `cache_control` | cached at most |
 * |---|---|
 * | a tool, a system message | system instruction and tools |
 * | a part or a message of the user | the contents up to it |
 * | an answer, a result, the request itself | the contents up to the last question before it |
 *
 * The rest always begins with a question of the user, never with the results of calls, which Google wants right after
 * the call. So a marker on the last message does not cache that message. Shorter prefixes, up to each question, are
 * breakpoints too: an earlier turn may have cached them. Audio and video are never cached: writing them has no known
 * price.
 */
export function breakpointsOf(call: DialectCall, marks: readonly Place[]): CacheBreakpoint[] {
  const { contents } = call.body
  if (!Array.isArray(contents)) return []
  const questions = lastQuestions(contents)
  const marked = new Set(marks.flatMap((mark) => nameOf(askedBefore(contents, questions, mark)) ?? []))
  const { systemInstruction, tools, toolConfig } = call.body
  const breakpoints: CacheBreakpoint[] = []
  const total = lengthOf([systemInstruction, tools, contents])
  let adds = JSON.stringify([modelOf(call.path), systemInstruction, tools, toolConfig])
  let length = lengthOf([systemInstruction, tools])
  const breakHere = (place: Place): void => {
    const isMarked = marked.delete(nameOf(place) ?? '')
    if (!isMarked && (place.part > 0 || questions[place.content] !== place.content)) return
    if (place.content === 0 && place.part === 0 && systemInstruction === undefined && tools === undefined)
      return
    breakpoints.push(
      breakpointAt(call, contents, place, {
        adds,
        tokens: estimateTokens(length),
        share: length / total,
        isMarked,
      }),
    )
    adds = ''
  }
  for (let content = 0; content < contents.length && marked.size > 0; content++) {
    breakHere({ content, part: 0 })
    adds += `\n${isObject(contents[content]) ? String(contents[content]['role']) : ''}`
    for (const [index, part] of partsOf(contents[content]).entries()) {
      if (isTimed(part)) return breakpoints
      if (index > 0) breakHere({ content, part: index })
      adds += `\n${JSON.stringify(part)}`
      length += lengthOf(part)
    }
  }
  return breakpoints
}

/** All `cache_control` markers of a request: those in the contents, on tools, and on the request itself. */
export function placesOf({ tools, body }: InferenceRequest, inContents: readonly Place[]): Place[] {
  const isToolMarked = tools.some((tool) => isMark(tool.type === 'other' ? tool.data : tool.extra))
  return [
    ...(isToolMarked ? [{ content: 0, part: 0 }] : []),
    ...inContents,
    ...(isMark(body) ? [{ content: Number.POSITIVE_INFINITY, part: 0 }] : []),
  ]
}

const nameOf = (place: Place | null): string | null => place && `${place.content} ${place.part}`

/** The place itself if it is inside a question, else the start of the last question before it; null without one. */
function askedBefore(
  contents: readonly unknown[],
  questions: readonly number[],
  { content, part }: Place,
): Place | null {
  const parts = partsOf(contents[content])
  if (part > 0 && part < parts.length && questions[content] === content) return { content, part }
  const isAtEnd = part > 0 && part >= parts.length
  const last = questions[Math.min(isAtEnd ? content + 1 : content, contents.length - 1)] ?? NONE
  return last === NONE ? null : { content: last, part: 0 }
}

const partsOf = (content: unknown): readonly unknown[] => asList(fieldsOf(content)['parts'])

const NONE = -1

/** For each content, the index of the last question up to it. */
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

/** Audio and video. */
function isTimed(part: unknown): boolean {
  const media = isObject(part) ? (part['inlineData'] ?? part['fileData']) : undefined
  if (!isObject(media)) return false
  const type = media['mimeType']
  // Content at an address may be of any type.
  return typeof type !== 'string' || /^(?:audio|video)\//.test(type)
}

function breakpointAt(
  call: DialectCall,
  contents: readonly unknown[],
  { content, part }: Place,
  about: Pick<CacheBreakpoint, 'adds' | 'tokens' | 'share' | 'isMarked'>,
): CacheBreakpoint {
  const { systemInstruction, tools, toolConfig, contents: _, ...rest } = call.body
  const parts = partsOf(contents[content])
  // Built only for the breakpoint that is used: all prefixes together grow with the square of the prompt.
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

/** Google counts 258 tokens for an image or a page, whatever the length of its base64. */
const PICTURE_LENGTH = 4 * 258
const PAGE_BYTES = 50_000

/** The equivalent number of characters of text. */
function lengthOfMedia(media: JsonObject): number {
  const { mimeType, data } = media
  const bytes = typeof data === 'string' ? Math.ceil((data.length * 3) / 4) : 0
  if (typeof mimeType === 'string' && mimeType.startsWith('text/')) return bytes
  return mimeType === 'application/pdf' ? Math.ceil(bytes / PAGE_BYTES) * PICTURE_LENGTH : PICTURE_LENGTH
}

/** Characters of all texts, and the equivalent of all media. */
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
  const { name, usageMetadata } = fieldsOf(body)
  if (!isString(name) || name === '') return null
  return { name, tokens: asCount(fieldsOf(usageMetadata)['totalTokenCount']) ?? null }
}

export const contextCache = {
  read,
  // AI Studio: `Cached content is too small. total_token_count=1500, min_total_token_count=4096`; Vertex: `The cached
  // content is of 1171 tokens. The minimum token count to start caching is 4096.`
  isTooShort: ({ status, reason }) =>
    status === 400 && /too small|min_total_token_count|minimum token count/i.test(reason),
} satisfies Egress['contextCache']
