import { isObject } from '../../core/json.ts'
import type { Egress } from '../dialect.ts'
import { readErrorReply } from '../read-error.ts'
import { readReply } from '../read-reply.ts'
import { buildCount, buildGemini } from './build.ts'
import { contextCache } from './context-cache.ts'
import { createGeminiDecoder } from './decode.ts'

/**
 * Google reads its own file store and videos of YouTube. Other addresses only the newest models read, and not every
 * kind of file: the content always works.
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
