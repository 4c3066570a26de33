import { type InferenceFrame, type JsonObject, nativeData } from '../../core/events.ts'
import type { Closing, PublicError, ReplyContext } from '../../core/result.ts'
import type { StreamWriter } from '../dialect.ts'
import { failureIdEvent } from '../failed-stream.ts'
import { errorTypeOfStatus, openaiTier } from '../finish.ts'
import { oneLine } from '../json-text.ts'
import { viewMetadata } from '../usage.ts'
import { toolEventsOf } from './tool-events.ts'
import { viewUsage } from './usage.ts'
import {
  addEvent,
  addNative,
  type ChoiceDelta,
  type ChoiceState,
  newChoiceState,
  writeChoice,
} from './write-delta.ts'
import { foreignFields, isChatNative } from './write-message.ts'

/**
 * Writes a chat completion as chunks: one upstream frame becomes at most one chunk. After `end` or `fail` every
 * method returns ''.
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
      if (frame.plainText === undefined) return writeFrame(frame, chunks, stateOf, reply)
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

function writeFrame(
  frame: InferenceFrame,
  chunks: Chunks,
  stateOf: StateOf,
  { hideReasoning, request }: ReplyContext,
): string {
  const { deltas, fields } = gather(frame)
  const { system_fingerprint, ...foreign } = fields ?? {}
  if (typeof system_fingerprint === 'string') chunks.remember(system_fingerprint)
  const choices = deltas.flatMap((delta) => writeChoice(delta, stateOf(delta.index), hideReasoning) ?? [])
  if (foreign.service_tier !== undefined) foreign.service_tier = openaiTier(foreign.service_tier)
  const tools = request.showsToolEvents ? toolEventsOf(frame.events) : []
  if (tools.length > 0) foreign.tool_events = tools
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
    const data = nativeData(event, 'chat', isChatNative)
    if (data === undefined) continue
    fields = Object.assign(fields ?? {}, foreignFields(data.chunk))
    for (const native of data.choices ?? []) addNative(deltaOf(native.index), native)
  }
  return { deltas: [...deltas.values()], fields }
}

/** Clients require `metadata.error_type` if there is `metadata`. */
const viewFailure = ({ status, message, metadata }: PublicError): JsonObject => ({
  code: status,
  message,
  metadata: { error_type: errorTypeOfStatus(status), ...metadata },
})

/**
 * The SSE events of one stream. All share id, created, model and provider, and from the first that has one, the
 * system fingerprint.
 */
interface Chunks {
  write(fields: JsonObject): string
  /** The chunks of text deltas of choice 0, from the JSON texts of their strings: the same bytes as `write`. */
  splice(jsons: readonly string[], withRole: boolean): string
  /** The events of a failure, after which nothing follows. */
  fail(error: JsonObject, more: JsonObject, idEvent: string): string
  remember(systemFingerprint: string): void
}

const TAIL = '"},"finish_reason":null}]}\n\n'

function createChunks(reply: ReplyContext): Chunks {
  let head = headOf(reply, undefined)
  let plain = plainOf(head)
  return {
    write: (fields) => `data: ${head}${oneLine(JSON.stringify(fields)).slice(1)}\n\n`,
    splice: (jsons, withRole) =>
      `${withRole ? plain.first : plain.next}${jsons.length === 1 ? jsons[0] : jsons.join(plain.between)}${TAIL}`,
    fail: (error, more, idEvent) => failureEvents(head, error, more, idEvent),
    remember(systemFingerprint) {
      head = headOf(reply, systemFingerprint)
      plain = plainOf(head)
    },
  }
}

/**
 * Two chunks with the same error, in the one form that every client was seen to report:
 * - `error` comes first, since go-openai looks for `data: {"error":`;
 * - the first has no choices: langchain-openrouter looks for an error only there;
 * - the last has the choice with `finish_reason: "error"`, and an annotation that no client has a type for: the AI
 *   SDK's `openai.chat` drops `error` from every chunk that is otherwise valid, and reads it from one that is not;
 * - the id is between them: go-openai reads an error only before it, clients that connect again the last id;
 * - both are complete chunks: OpenRouter's SDKs throw a parse error at a bare `{"error": …}`.
 */
function failureEvents(head: string, error: JsonObject, more: JsonObject, idEvent: string): string {
  const delta = { content: '', annotations: [{ type: 'error' }] }
  const choices = [{ index: 0, delta, finish_reason: 'error' }]
  const start = `data: {"error":${oneLine(JSON.stringify(error))},${head.slice(1)}`
  const end = oneLine(JSON.stringify({ choices, ...more })).slice(1)
  return `${start}"choices":[]}\n\n${idEvent}${start}${end}\n\n`
}

/** The opened object that every chunk begins with. */
function headOf({ generationId, created, model, providerName }: ReplyContext, fingerprint?: string): string {
  const fields = { id: generationId, object: 'chat.completion.chunk', created, model, provider: providerName }
  const all = fingerprint === undefined ? fields : { ...fields, system_fingerprint: fingerprint }
  return `${oneLine(JSON.stringify(all)).slice(0, -1)},`
}

/** The characters before the JSON text of a plain text delta, and between two of them. */
function plainOf(head: string): { first: string; next: string; between: string } {
  const open = `data: ${head}"choices":[{"index":0,"delta":{`
  const next = `${open}"content":"`
  return { first: `${open}"role":"assistant","content":"`, next, between: TAIL + next }
}
