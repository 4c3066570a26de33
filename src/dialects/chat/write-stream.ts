import type { ErrorType } from '../../core/errors.ts'
import type { InferenceFrame, JsonObject } from '../../core/events.ts'
import type { Closing, PublicError, ReplyContext } from '../../core/result.ts'
import type { StreamWriter } from '../dialect.ts'
import { failureIdEvent } from '../failed-stream.ts'
import { openaiTier } from '../service-tier.ts'
import {
  addEvent,
  addNative,
  type ChoiceDelta,
  type ChoiceState,
  newChoiceState,
  writeChoice,
} from './delta.ts'
import { foreignFields, isChatNative } from './message-view.ts'
import { viewMetadata, viewUsage } from './usage-view.ts'
import { type Chunks, createChunks } from './write-chunks.ts'

/**
 * Writes a chat completion as chunks: one upstream frame gives at most one chunk. After `end` or `fail` every
 * method answers ''.
 */
export function writeChatStream(reply: ReplyContext): StreamWriter {
  const chunks = createChunks(reply)
  const states = new Map<number, ChoiceState>()
  let isOver = false
  const stateOf = (index: number): ChoiceState => {
    const existing = states.get(index)
    if (existing) return existing
    const added = newChoiceState()
    states.set(index, added)
    return added
  }
  const last = (write: () => string): string => {
    if (isOver) return ''
    isOver = true
    return write()
  }
  return {
    echo: (body) => (isOver ? '' : chunks.write({ choices: [], debug: { echo_upstream_body: body } })),
    write(frame) {
      if (isOver) return ''
      if (frame.plainText === undefined) return writeFrame(frame, chunks, stateOf, reply.hideReasoning)
      const state = stateOf(0)
      const isFirst = !state.hasRole
      state.hasRole = true
      return chunks.splice(frame.plainText.jsons, isFirst)
    },
    begin() {
      const state = stateOf(0)
      if (isOver || state.hasRole) return ''
      state.hasRole = true
      return chunks.splice(EMPTY, true)
    },
    end: (closing) => last(() => writeEnd(closing, chunks, stateOf)),
    fail: (error) =>
      last(() =>
        chunks.fail(viewFailure(error), viewMetadata(reply.routing?.() ?? null), failureIdEvent(error)),
      ),
  }
}

const EMPTY = ['']

type StateOf = (index: number) => ChoiceState

function writeFrame(frame: InferenceFrame, chunks: Chunks, stateOf: StateOf, hideReasoning: boolean): string {
  const { deltas, fields } = gather(frame)
  const { system_fingerprint, ...foreign } = fields ?? {}
  if (typeof system_fingerprint === 'string') chunks.remember(system_fingerprint)
  const choices = deltas.flatMap((delta) => writeChoice(delta, stateOf(delta.index), hideReasoning) ?? [])
  if (foreign.service_tier !== undefined) foreign.service_tier = openaiTier(foreign.service_tier)
  if (choices.length === 0 && Object.keys(foreign).length === 0) return ''
  return chunks.write({ choices, ...foreign })
}

function writeEnd(closing: Closing, chunks: Chunks, stateOf: StateOf): string {
  let text = ''
  for (const { choice, reason, native } of closing.finishes) {
    const delta = stateOf(choice).hasRole ? {} : { role: 'assistant', content: '' }
    const entry = { index: choice, delta, finish_reason: reason, native_finish_reason: native }
    text += chunks.write({ choices: [entry] })
  }
  const usage = { choices: [], usage: viewUsage(closing), service_tier: openaiTier(closing.serviceTier) }
  return `${text}${chunks.write({ ...usage, ...viewMetadata(closing.serviceMetadata) })}data: [DONE]\n\n`
}

/** The events of a frame by choice, in the order of their first event, and the foreign top-level fields. */
function gather(frame: InferenceFrame): { deltas: ChoiceDelta[]; fields: JsonObject | undefined } {
  const deltas = new Map<number, ChoiceDelta>()
  let fields: JsonObject | undefined
  const deltaOf = (index: number): ChoiceDelta => {
    const existing = deltas.get(index)
    if (existing) return existing
    const added = { index }
    deltas.set(index, added)
    return added
  }
  for (const event of frame.events) {
    if ('choice' in event) addEvent(deltaOf(event.choice), event)
    if (event.type !== 'native' || event.dialect !== 'chat' || !isChatNative(event.data)) continue
    fields = Object.assign(fields ?? {}, foreignFields(event.data.chunk))
    for (const native of event.data.choices ?? []) addNative(deltaOf(native.index), native)
  }
  return { deltas: [...deltas.values()], fields }
}

/** Clients parse `metadata.error_type` as required wherever there is metadata. */
const viewFailure = ({ status, message, metadata }: PublicError): JsonObject => ({
  code: status,
  message,
  metadata: { error_type: errorTypeOf(status), ...metadata },
})

function errorTypeOf(status: number): ErrorType {
  if (status === 429) return 'rate_limit_exceeded'
  if (status === 408 || status === 504 || status === 524) return 'timeout'
  if (status === 502) return 'provider_unavailable'
  if (status === 503 || status === 529) return 'provider_overloaded'
  return status >= 400 && status < 500 ? 'invalid_request' : 'server'
}
