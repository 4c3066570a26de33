import type { JsonObject } from '../../core/events.ts'
import type { OperationReply } from '../../dialects/operation.ts'
import type { Generation } from '../generation.ts'
import type { Answered } from '../upstream/attempts.ts'

/** What is kept of an answer that is one piece. */
interface Kept<Result> {
  result: Result
  native: JsonObject
}

/** Null: nothing is kept, so it is asked for. */
export function storedReply<Result>({ cached }: Generation): Answered<OperationReply<Result>> | null {
  const hit = cached?.hit
  if (!hit) return null
  const kept: Kept<Result> = JSON.parse(Buffer.from(hit.answer.bytes).toString())
  return { attempt: hit.attempt, answer: { ...kept, upstreamId: null, usage: null }, dropped: [] }
}

/** The generation is on the ledger. */
export function keepReply<Result>(
  { cached, id }: Generation,
  { attempt, answer }: Answered<OperationReply<Result>>,
): void {
  if (!cached || cached.hit) return
  // What was counted belongs to the generation that it was.
  const { usage: _, ...native } = answer.native ?? {}
  const kept: Kept<Result> = { result: answer.result, native }
  const bytes = Buffer.from(JSON.stringify(kept))
  if (bytes.byteLength <= cached.mostBytes) cached.keep(id, attempt, bytes)
}
