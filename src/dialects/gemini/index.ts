import type { FrameBatch, InferenceEvent, JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { Egress, Ingress } from '../dialect.ts'
import { readErrorReply } from '../read-error.ts'
import { readReply } from '../read-reply.ts'
import { buildCount, buildGemini } from './build.ts'
import { isGeminiNative, mergedChunks } from './chunks.ts'
import { contextCache } from './context-cache.ts'
import { createGeminiDecoder } from './decode.ts'
import { viewError } from './errors.ts'
import { parseGemini } from './parse.ts'
import { writeGeminiReply } from './write-reply.ts'
import { createStreamWriter } from './write-stream.ts'

/** `:generateContent` and `:streamGenerateContent?alt=sse`, toward callers: Google's Gemini API. */
export const geminiIngress = {
  parse: parseGemini,
  writeReply: writeGeminiReply,
  writeStream: (reply) => createStreamWriter(reply, 'events'),
  // Google's Python client reads a comment as a broken chunk (google-genai 3.4) and skips empty lines.
  stream: { mediaType: 'text/event-stream', keepAlive: '\n\n' },
  gather: gatherChunks,
  viewError,
} satisfies Ingress

/** Without `alt=sse` a stream is one JSON list. */
export const geminiListIngress = {
  ...geminiIngress,
  writeStream: (reply) => createStreamWriter(reply, 'list'),
  stream: { mediaType: 'application/json', keepAlive: '\n' },
} satisfies Ingress

/** Merges the chunks of a reply that a provider of this dialect streamed into one. */
function gatherChunks(frames: FrameBatch): FrameBatch {
  const own = frames.flatMap(({ events }) => events.flatMap(chunkIn))
  if (own.length < 2) return frames
  const data = { chunk: mergedChunks(own) }
  return [
    ...frames.map(({ events }) => ({ events: events.filter((event) => chunkIn(event).length === 0) })),
    { events: [{ type: 'native', dialect: 'gemini', data }] },
  ]
}

/** A chunk that filters changed does not count: neutral events carry most of it. */
const chunkIn = (event: InferenceEvent): JsonObject[] =>
  event.type === 'native' &&
  event.dialect === 'gemini' &&
  isGeminiNative(event.data) &&
  event.data.isRest !== true
    ? [event.data.chunk]
    : []

/**
 * Google reads its own file store and YouTube. Other addresses work only with the newest models and not for every kind
 * of file, so the gateway sends their content.
 */
const isGoogles = (url: string, part: string): boolean =>
  /^https:\/\/(?:generativelanguage\.googleapis\.com|storage\.googleapis\.com)\//i.test(url) ||
  (part === 'video' && /^https:\/\/(?:(?:www|m)\.)?(?:youtube\.com|youtu\.be)\//i.test(url))

const readCount = (body: unknown): number | null =>
  isObject(body) && typeof body.totalTokens === 'number' && body.totalTokens >= 0 ? body.totalTokens : null

/** Google's generateContent, as AI Studio and Vertex speak it. */
export const geminiEgress = {
  needsContent: (part, url) => !isGoogles(url, part),
  build: buildGemini,
  read: (reply, streamed) => readReply(reply, streamed, createGeminiDecoder(reply.status)),
  contextCache,
  countTokens: { build: buildCount, read: readCount },
  readError: readErrorReply,
} satisfies Egress
