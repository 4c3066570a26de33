import type { ErrorType } from '../../core/errors.ts'
import type { InferenceFrame, JsonObject } from '../../core/events.ts'
import type { Closing, PublicError, ReplyContext } from '../../core/result.ts'
import type { StreamWriter } from '../dialect.ts'
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

/** Line ends to some SSE clients, though JSON may carry them bare: always escaped. */
const LINE_ENDS = /[\n\r\u0085\u2028\u2029]/
const LINE_ENDS_ALL = /[\u0085\u2028\u2029]/g
const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** One SSE event. Text can never end it: JSON escapes CR and LF, and the rest is escaped here. */
function eventOf(json: string): string {
  return `data: ${LINE_ENDS.test(json) ? json.replace(LINE_ENDS_ALL, escapeUnit) : json}\n\n`
}

/**
 * Writes a chat completion as chunks: one upstream frame gives at most one chunk. All chunks share id, created,
 * model and provider, and from the first that has one, the system fingerprint. After `end` or `fail` every
 * method answers ''.
 */
export function writeChatStream(reply: ReplyContext): StreamWriter {
  const states = new Map<number, ChoiceState>()
  let head = headOf(reply, undefined)
  let plain = plainOf(head)
  let isOver = false

  const chunk = (fields: JsonObject): string => eventOf(head + JSON.stringify(fields).slice(1))
  const stateOf = (index: number): ChoiceState => {
    const existing = states.get(index)
    if (existing) return existing
    const added = newChoiceState()
    states.set(index, added)
    return added
  }
  const remember = (fields: JsonObject | undefined): void => {
    if (typeof fields?.system_fingerprint !== 'string') return
    head = headOf(reply, fields.system_fingerprint)
    plain = plainOf(head)
  }
  const writeFrame = (frame: InferenceFrame): string => {
    const { deltas, fields } = gather(frame)
    remember(fields)
    const choices = deltas.flatMap(
      (delta) => writeChoice(delta, stateOf(delta.index), reply.hideReasoning) ?? [],
    )
    const { system_fingerprint: _said, ...foreign } = fields ?? {}
    return choices.length === 0 && Object.keys(foreign).length === 0 ? '' : chunk({ choices, ...foreign })
  }
  const finishChunks = ({ finishes }: Closing): string => {
    let text = ''
    for (const { choice, reason, native } of finishes) {
      const delta = stateOf(choice).hasRole ? {} : { role: 'assistant', content: '' }
      text += chunk({
        choices: [{ index: choice, delta, finish_reason: reason, native_finish_reason: native }],
      })
    }
    return text
  }
  const unlessOver = (write: () => string): string => (isOver ? '' : write())
  const last = (write: () => string): string =>
    unlessOver(() => {
      isOver = true
      return write()
    })

  return {
    echo: (body) => unlessOver(() => chunk({ choices: [], debug: { echo_upstream_body: body } })),
    write(frame) {
      if (isOver) return ''
      const json = frame.plainText?.dialect === 'chat' ? frame.plainText.json : undefined
      if (json === undefined || LINE_ENDS.test(json)) return writeFrame(frame)
      if (json === '') return ''
      const state = stateOf(0)
      if (state.hasRole) return plain.next + json + plain.tail
      state.hasRole = true
      return plain.first + json + plain.tail
    },
    end: (closing) =>
      last(() => {
        const usage = { choices: [], usage: viewUsage(closing), service_tier: closing.serviceTier }
        return `${finishChunks(closing)}${chunk({ ...usage, ...viewMetadata(closing) })}data: [DONE]\n\n`
      }),
    fail: (error) => last(() => chunk(failureOf(error))),
  }
}

/** The opened object that every chunk begins with. */
function headOf({ generationId, created, model, providerName }: ReplyContext, fingerprint?: string): string {
  const fields = { id: generationId, object: 'chat.completion.chunk', created, model, provider: providerName }
  const all = fingerprint === undefined ? fields : { ...fields, system_fingerprint: fingerprint }
  return `${JSON.stringify(all).slice(0, -1)},`
}

/** What stands before and after the JSON text of a plain text delta. */
function plainOf(head: string) {
  const open = eventOf(`${head}"choices":[{"index":0,"delta":{`).slice(0, -2)
  return {
    first: `${open}"role":"assistant","content":"`,
    next: `${open}"content":"`,
    tail: '"},"finish_reason":null}]}\n\n',
  }
}

/** The events of a frame by choice, in the order of their first event, and the foreign top-level fields. */
function gather(frame: InferenceFrame): { deltas: ChoiceDelta[]; fields: JsonObject | undefined } {
  const deltas: ChoiceDelta[] = []
  let fields: JsonObject | undefined
  const deltaOf = (index: number): ChoiceDelta => {
    const existing = deltas.find((delta) => delta.index === index)
    if (existing) return existing
    const added = { index }
    deltas.push(added)
    return added
  }
  for (const event of frame.events) {
    if ('choice' in event) addEvent(deltaOf(event.choice), event)
    if (event.type !== 'native' || event.dialect !== 'chat' || !isChatNative(event.data)) continue
    fields = { ...fields, ...foreignFields(event.data.chunk) }
    for (const native of event.data.choices ?? []) addNative(deltaOf(native.index), native)
  }
  return { deltas, fields }
}

/** Clients parse `metadata.error_type` as required wherever there is metadata. */
const failureOf = ({ status, message, metadata }: PublicError): JsonObject => ({
  choices: [{ index: 0, delta: { content: '' }, finish_reason: 'error' }],
  error: { code: status, message, metadata: { error_type: errorTypeOf(status), ...metadata } },
})

function errorTypeOf(status: number): ErrorType {
  if (status === 429) return 'rate_limit_exceeded'
  if (status === 408 || status === 504 || status === 524) return 'timeout'
  if (status === 502) return 'provider_unavailable'
  if (status === 503 || status === 529) return 'provider_overloaded'
  return status >= 400 && status < 500 ? 'invalid_request' : 'server'
}
