import type { Caller } from '../../core/caller.ts'
import type { JsonObject } from '../../core/events.ts'
import { replyIdOf } from '../../core/ids.ts'
import { isString } from '../../core/json.ts'
import type { ResponseStatus } from '../../core/response-status.ts'
import type { ReplyContext } from '../../core/result.ts'
import type { ResponseStore, StoredResponse } from '../../core/stored-response.ts'
import type { ResponseRecorder } from '../reply/recorder.ts'
import type { ResolvedInput } from './input.ts'
import { approvalOf, idOf, outputItems, shownItem } from './items.ts'
import type { StateOptions } from './state.ts'
import { storedReply } from './stored-reply.ts'

/** The data needed to store a response, known before it runs. */
export interface StoreContext {
  readonly store: ResponseStore
  readonly caller: Caller
  readonly state: StateOptions
  readonly resolved: ResolvedInput
  readonly startedAt: number
  readonly retentionMs: number
  onLost(error: unknown, generationId: string): void
}

/** Stores the reply of a foreground request, when it has ended. */
export function foregroundRecorder(storing: StoreContext): ResponseRecorder {
  let context: ReplyContext | null = null
  return {
    async begin(replyContext) {
      context = replyContext
    },
    async end(ending, reply) {
      if (context === null || reply === null) return
      const { generationId } = context
      const kept = storedReply(ending, reply)
      try {
        await storeResponse(
          storing,
          newResponse(storing, context, kept.status, modelOf(kept.reply)),
          kept.reply,
        )
      } catch (error) {
        // The reply is complete and charged, so the caller gets it anyway.
        storing.onLost(error, generationId)
      }
    },
  }
}

export const newResponse = (
  { state, caller, startedAt, retentionMs }: StoreContext,
  { generationId, model }: ReplyContext,
  status: ResponseStatus,
  answering: string | undefined,
): StoredResponse => ({
  id: replyIdOf(generationId, 'resp_'),
  workspaceId: caller.workspace.id,
  keyHash: caller.key.hash,
  generationId,
  status,
  model: answering ?? model,
  previousResponseId: state.previousResponseId,
  background: state.background,
  streamed: state.background && state.stream,
  createdAt: startedAt,
  expiresAt: startedAt + retentionMs,
})

/** The model that replied, which may not be the first choice. */
export const modelOf = ({ model }: JsonObject): string | undefined =>
  typeof model === 'string' ? model : undefined

/** Stores a new response, and extends the retention of the turns that it continues. */
export async function storeResponse(
  { store, resolved }: StoreContext,
  response: StoredResponse,
  reply: JsonObject,
): Promise<void> {
  const { own, turnIds } = resolved
  const asked = own.map((item, index) => shownItem(item, response.id, index).id)
  await store.keep(response, { reply, input: own, itemIds: [...asked, ...outputIds(reply)] })
  if (turnIds.length > 0) await store.keepUntil(turnIds, response.expiresAt)
}

/** The ids under which a reply is found: those of its items, and of the approvals that its calls had. */
export const outputIds = (reply: JsonObject): string[] =>
  outputItems(reply).flatMap((item) => [idOf(item), approvalOf(item)].filter(isString))
