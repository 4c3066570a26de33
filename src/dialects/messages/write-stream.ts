import {
  eachOf,
  type InferenceEvent,
  type InferenceFrame,
  type JsonObject,
  nativeData,
} from '../../core/events.ts'
import { replyIdOf } from '../../core/ids.ts'
import { asObject, fieldsOf, isString } from '../../core/json.ts'
import type { Closing, PublicError, ReplyContext } from '../../core/result.ts'
import type { Usage } from '../../core/usage.ts'
import type { StreamWriter } from '../dialect.ts'
import { viewMetadata } from '../usage.ts'
import { viewError } from './errors.ts'
import { viewTokens, viewUsage } from './usage.ts'
import { endBlocks, openText, writeBlocks } from './write-blocks.ts'
import { PING, type StreamEvent, spliceText, viewStop, writeEvent } from './write-events.ts'
import { eventsOfMessage, isMessagesNative } from './write-native.ts'
import { type BlockSink, type BlockState, newBlockState } from './write-state.ts'

interface StreamState {
  readonly reply: ReplyContext
  readonly blocks: BlockState
  /** Written and not handed out yet. */
  text: string
  hasStarted: boolean
  /** The provider has the same dialect: its events are relayed. */
  isRelay: boolean
  usage: Usage | null
  serviceTier: string | null
  /** The fields of the provider's last events, held back until the end. */
  delta: JsonObject
  last: JsonObject
}

/**
 * Writes a message as Anthropic's events: `message_start`, a `ping`, the blocks in order, `message_delta`
 * with the final usage, `message_stop`. Events of a provider of the same dialect are relayed as they came, in their
 * places, except for the id, the model, the usage and the end. After `end` or `fail` every method returns ''.
 */
export function writeMessagesStream(reply: ReplyContext): StreamWriter {
  let isOver = false
  const state = newStream(reply)
  const last = (write: () => void): string => {
    if (isOver) return ''
    isOver = true
    write()
    return taken(state)
  }
  return {
    // No place for it in this dialect, and no field that asks for it.
    echo: () => '',
    write(frame) {
      if (isOver) return ''
      const jsons = frame.plainText?.jsons
      if (jsons && state.blocks.open?.kind !== 'call') return splice(jsons, state)
      for (const each of eachOf(frame)) writeFrame(each, state)
      return taken(state)
    },
    end: (closing) => last(() => writeEnd(closing, state)),
    fail: (error) => last(() => writeFailure(error, state)),
  }
}

function newStream(reply: ReplyContext): StreamState {
  const add = (event: StreamEvent): void => {
    state.text += writeEvent(event)
  }
  const sink: BlockSink = {
    start: (index, content_block) => add({ type: 'content_block_start', index, content_block }),
    delta: (index, delta) => add({ type: 'content_block_delta', index, delta }),
    stop: (index) => add({ type: 'content_block_stop', index }),
  }
  const state: StreamState = {
    reply,
    blocks: newBlockState(sink, reply),
    text: '',
    hasStarted: false,
    isRelay: false,
    usage: null,
    serviceTier: null,
    delta: {},
    last: {},
  }
  return state
}

function taken(state: StreamState): string {
  const { text } = state
  state.text = ''
  return text
}

/**
 * The fast path: JSON text of a string is the same in every dialect. A reader of this one promises that the piece
 * belongs to the block that was started last.
 */
function splice(jsons: readonly string[], state: StreamState): string {
  start(state, {})
  if (!state.isRelay) openText(state.blocks)
  return taken(state) + spliceText(state.blocks.started - 1, jsons)
}

function writeFrame({ events }: InferenceFrame, state: StreamState): void {
  for (const event of events) {
    if (event.type !== 'usage') continue
    state.usage = event.usage
    state.serviceTier = event.serviceTier ?? state.serviceTier
  }
  const natives = events.flatMap(nativeOf)
  if (natives.length > 0) {
    state.isRelay = true
    for (const event of natives) relay(event, state)
    return
  }
  const shown = events.filter((event) =>
    'choice' in event ? event.choice === 0 : event.type === 'server-tool' || event.type === 'own-piece',
  )
  if (shown.length === 0) return
  start(state, {})
  if (!state.isRelay) writeBlocks(shown, state.blocks)
  else for (const event of shown) if (event.type === 'text-delta') relayText(event.text, state)
}

function nativeOf(event: InferenceEvent): JsonObject[] {
  const native = nativeData(event, 'messages', isMessagesNative)
  if (native?.message) return eventsOfMessage(native.message)
  return native?.event ? [native.event] : []
}

const relayText = (text: string, { blocks }: StreamState): void =>
  blocks.sink.delta(blocks.started - 1, { type: 'text_delta', text })

const EVENT_NAME = /^[\w.-]{1,64}$/

function relay(event: JsonObject, state: StreamState): void {
  const { type, ...fields } = event
  if (type === 'message_start') {
    start(state, fieldsOf(fields.message))
  } else if (type === 'message_delta') {
    const { delta, usage, ...rest } = fields
    // In place: a provider may send many.
    const before = asObject(state.delta.delta) ?? {}
    Object.assign(state.delta, rest, { delta: Object.assign(before, delta) })
  } else if (type === 'message_stop') {
    state.last = fields
  } else if (isString(type) && EVENT_NAME.test(type)) {
    start(state, {})
    if (type === 'content_block_start') state.blocks.started = Number(fields.index) + 1
    state.text += writeEvent({ ...event, type })
  }
}

/** Once, before anything else. `own` is how the provider began. */
function start(state: StreamState, own: JsonObject): void {
  if (state.hasStarted) return
  state.hasStarted = true
  const { reply, usage, serviceTier } = state
  const message = {
    content: [],
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
    container: null,
    ...own,
    id: replyIdOf(reply.generationId, 'msg_'),
    type: 'message',
    role: 'assistant',
    model: reply.model,
    provider: reply.providerName,
    usage: viewTokens(usage, serviceTier),
  }
  state.text += writeEvent({ type: 'message_start', message }) + PING
}

function writeEnd(closing: Closing, state: StreamState): void {
  const [finish] = closing.finishes
  start(state, {})
  if (!state.isRelay) endBlocks(state.blocks)
  if (finish?.reason === 'error') {
    writeFailure({ status: 502, message: BROKEN_OFF }, state)
    return
  }
  const { delta, ...rest } = state.delta
  const stop = { ...viewStop(finish, state.blocks.refusal), ...fieldsOf(delta) }
  const metadata = viewMetadata(closing.serviceMetadata, [...state.blocks.lost])
  state.text +=
    writeEvent({ ...rest, type: 'message_delta', delta: stop, usage: viewUsage(closing) }) +
    writeEvent({ ...state.last, type: 'message_stop', ...metadata })
}

const BROKEN_OFF = 'The provider broke off the answer'

function writeFailure(error: PublicError, state: StreamState): void {
  const metadata = viewMetadata(state.reply.routing?.() ?? null)
  state.text += writeEvent({ ...viewError(error, null), type: 'error', ...metadata })
}
