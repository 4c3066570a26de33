import type { JsonObject } from '../../core/events.ts'
import type { OperationReply } from '../../dialects/operation.ts'
import type { Generation } from '../generation.ts'
import type { Answered } from '../upstream/attempts.ts'

/** A cached reply of an operation that is not a conversation. */
interface CachedResult<Result> {
  result: Result
  native: JsonObject
}

/** Null: a miss, so a provider must be called. */
export function cachedReply<Result>({ cached }: Generation): Answered<OperationReply<Result>> | null {
  const hit = cached?.hit
  if (!hit) return null
  const stored: CachedResult<Result> = JSON.parse(Buffer.from(hit.answer.bytes).toString())
  return { attempt: hit.attempt, answer: { ...stored, upstreamId: null, usage: null }, dropped: [] }
}

/** Caches a reply on a miss. Its generation must be committed. */
export function cacheReply<Result>(
  generation: Generation,
  { attempt, answer }: Answered<OperationReply<Result>>,
  costNanoUsd: number,
): void {
  const { cached } = generation
  if (!cached || cached.hit) return
  // Usage belongs to the original generation.
  const { usage: _, ...native } = answer.native ?? {}
  const stored: CachedResult<Result> = { result: answer.result, native }
  const bytes = Buffer.from(JSON.stringify(stored))
  if (bytes.byteLength <= cached.mostBytes) cached.keep(generation, attempt, bytes, costNanoUsd)
}
