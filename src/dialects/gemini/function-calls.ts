import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { isObject, isString } from '../../core/json.ts'
import { checkCalls } from '../reply-bounds.ts'
import { createPartialArguments, type PartialArguments } from './partial-arguments.ts'
import { callExtra, signatureDetail } from './signatures.ts'

/** The calls of one candidate: whole ones, and those whose arguments come in pieces. */
export interface FunctionCalls {
  /** One part with a `functionCall`. Throws `malformed` for a call without a name. */
  add(call: JsonObject, signature: string | undefined, events: InferenceEvent[]): void
  /** A call under way is complete: another part came, or the end. */
  close(events: InferenceEvent[]): void
  has(): boolean
}

export function createFunctionCalls(choice: number): FunctionCalls {
  let count = 0
  let open: { index: number; pieces: PartialArguments } | null = null

  function start(
    call: JsonObject,
    name: string,
    signature: string | undefined,
    events: InferenceEvent[],
  ): number {
    checkCalls(count)
    const index = count++
    const id = isString(call['id']) && call['id'] !== '' ? call['id'] : newToolCallId()
    const extra = signature === undefined ? {} : { extra: callExtra(signature) }
    events.push({ type: 'tool-call-start', choice, index, id, name, ...extra })
    if (signature !== undefined) {
      events.push({ type: 'reasoning-detail', choice, detail: signatureDetail(signature, id) })
    }
    return index
  }

  function close(events: InferenceEvent[]): void {
    if (open === null) return
    events.push({ type: 'tool-call-delta', choice, index: open.index, json: open.pieces.json() })
    open = null
  }

  return {
    add(call, signature, events) {
      const { name, args, partialArgs, willContinue } = call
      if (isString(name) && name !== '') {
        close(events)
        const index = start(call, name, signature, events)
        if (willContinue === true || Array.isArray(partialArgs)) {
          open = { index, pieces: createPartialArguments() }
        } else {
          const json = JSON.stringify(isObject(args) ? args : {})
          events.push({ type: 'tool-call-delta', choice, index, json })
        }
      } else if (open === null) {
        // The empty call that ends one in pieces may follow a piece that ended it.
        if (isObject(args) || Array.isArray(partialArgs)) throw nameless()
        return
      }
      if (Array.isArray(partialArgs)) open?.pieces.add(partialArgs)
      if (willContinue !== true) close(events)
    },
    close,
    has: () => count > 0,
  }
}

const nameless = (): UpstreamError => new UpstreamError('malformed', 'a tool call of the reply has no name')
