import type { JsonObject } from '../../core/events.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { estimateTokens } from '../../core/usage.ts'
import type { ContextCut, DialectCall, Egress, MadeContext } from '../dialect.ts'
import { defined, isObject } from '../values.ts'
import type { Place } from './contents.ts'
import { isMark } from './marks.ts'

/**
 * Where a call of `generateContent` can be cut in two: what a `cachedContents` resource holds, and what is asked
 * behind it. The system instruction, the tools and their settings are in the resource or in the call, never in both:
 * Google refuses a call that names a cache and brings any of them (AI Studio's and Vertex's reference, 2026).
 *
 * | marked with `cache_control` | kept |
 * |---|---|
 * | a tool, a system message | system instruction and tools |
 * | a part or a message of the user | the contents up to it |
 * | an answer, a result, the whole body | the contents up to the last question before it |
 *
 * The rest always begins with a question of the user, never with the results of calls: Google wants those right behind
 * the call. So of a mark on the last message the message itself is not kept.
 */
export function cutsOf(call: DialectCall, places: readonly Place[]): ContextCut[] {
  const { contents } = call.body
  if (!Array.isArray(contents)) return []
  const cuts = new Map<string, Place>()
  for (const place of places) {
    const cut = askedBefore(contents, place)
    if (cut !== null && !isEmpty(call.body, cut)) cuts.set(`${cut.content} ${cut.part}`, cut)
  }
  return [...cuts.values()]
    .sort((a, b) => a.content - b.content || a.part - b.part)
    .slice(-MOST_CUTS)
    .map((cut) => cutAt(call, contents, cut))
}

/** As many marks as Anthropic takes: each cut is written and hashed once. */
const MOST_CUTS = 4

/** All marks of a request: those in the contents, and those that only the request tells of. */
export function placesOf({ tools, body }: InferenceRequest, inContents: readonly Place[]): Place[] {
  const isToolMarked = tools.some((tool) => isMark(tool.type === 'other' ? tool.data : tool.extra))
  return [
    ...(isToolMarked ? [{ content: 0, part: 0 }] : []),
    ...inContents,
    ...(isMark(body) ? [{ content: Number.POSITIVE_INFINITY, part: 0 }] : []),
  ]
}

/** The place itself where a question goes on there, else the beginning of the last one before it; null: there is none. */
function askedBefore(contents: readonly unknown[], { content, part }: Place): Place | null {
  const parts = partsOf(contents[content])
  if (part > 0 && part < parts.length && isQuestion(contents[content])) return { content, part }
  const isWhole = part > 0 && part >= parts.length
  for (let at = Math.min(isWhole ? content + 1 : content, contents.length - 1); at >= 0; at--)
    if (isQuestion(contents[at])) return { content: at, part: 0 }
  return null
}

const partsOf = (content: unknown): readonly unknown[] =>
  isObject(content) && Array.isArray(content['parts']) ? content['parts'] : []

const isQuestion = (content: unknown): boolean =>
  isObject(content) &&
  content['role'] === 'user' &&
  !partsOf(content).some((part) => isObject(part) && part['functionResponse'] !== undefined)

const isEmpty = ({ systemInstruction, tools }: JsonObject, { content, part }: Place): boolean =>
  content === 0 && part === 0 && systemInstruction === undefined && tools === undefined

function cutAt(call: DialectCall, contents: readonly unknown[], { content, part }: Place): ContextCut {
  const { systemInstruction, tools, toolConfig, contents: _, ...rest } = call.body
  const parts = partsOf(contents[content])
  const before = contents.slice(0, content)
  if (part > 0) before.push({ role: 'user', parts: parts.slice(0, part) })
  const behind = contents.slice(content)
  if (part > 0) behind[0] = { role: 'user', parts: parts.slice(part) }
  const kept = defined({
    model: modelOf(call.path),
    systemInstruction,
    tools,
    toolConfig,
    contents: before.length > 0 ? before : undefined,
  })
  return {
    kept,
    tokens: estimateTokens(lengthOf(kept)),
    make: (ttlSeconds) => ({
      path: '/cachedContents',
      headers: {},
      body: { ...kept, ttl: `${ttlSeconds}s` },
      dropped: [],
    }),
    bodyWith: (name) => ({ cachedContent: name, contents: behind, ...rest }),
  }
}

/** `/models/gemini-2.5-pro:generateContent` → `models/gemini-2.5-pro`. */
const modelOf = (path: string): string => decodeURIComponent(path.slice(1, path.lastIndexOf(':')))

/** Google counts 258 tokens for an image or a page; what base64 comes to says nothing. */
const MEDIA_LENGTH = 4 * 258

/** Characters of all texts, with a fixed figure for each medium. */
function lengthOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + lengthOf(each), 0)
  if (!isObject(value)) return 1
  if (isObject(value['inlineData']) || isObject(value['fileData'])) return MEDIA_LENGTH
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
  // `Cached content is too small. total_token_count=1500, min_total_token_count=4096`
  isTooShort: ({ status, reason }) => status === 400 && /too small|min_total_token_count/i.test(reason),
  // 403 `CachedContent not found (or permission denied)`; Vertex says 404, and 400 of one that has just expired.
  isLost: ({ status, reason }) =>
    (status === 400 || status === 403 || status === 404) && /cached ?content/i.test(reason),
} satisfies Egress['contextCache']
