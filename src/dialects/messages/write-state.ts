import type { Carrier } from '../../core/carrier.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import type { ReplyContext } from '../../core/result.ts'
import type { JsonEnd } from '../json-text.ts'
import { seal } from '../opaque.ts'
import type { TextQueue } from '../text-places.ts'
import { longNames } from '../tool-names.ts'

/** Receives blocks, one at a time: writes them to a stream, or collects them into a message. */
export interface BlockSink {
  start(index: number, block: JsonObject): void
  delta(index: number, delta: JsonObject): void
  stop(index: number): void
}

export interface OpenThought {
  readonly kind: 'thinking'
  /** Text that came without its detail, and text that came only in a detail: its counterpart may follow. */
  readonly bare: TextQueue
  readonly detailed: TextQueue
  /** The fields of the pieces, without their text. */
  detail: JsonObject | undefined
  /** Its own signature was written. */
  isSigned: boolean
}

export interface OpenCall {
  readonly kind: 'call'
  readonly call: number
  /** Something came of its arguments. */
  hasJson: boolean
  /** Of its arguments. */
  readonly end: JsonEnd
  /** Its arguments are text, not JSON: OpenAI's custom tools. The text becomes the one field of an object. */
  readonly isText: boolean
}

/** The state of a writer of blocks. */
export interface BlockState {
  readonly sink: BlockSink
  readonly hidesReasoning: boolean
  readonly carrier: Carrier | undefined
  /** The caller's own names of tools, by the shortened ones that providers of other dialects know. */
  readonly longNames: ReadonlyMap<string, string>
  /** How many blocks were started. */
  started: number
  open: { readonly kind: 'text' } | OpenThought | OpenCall | null
  /** What came in the midst of a call. */
  waiting: Waiting[]
  /** How many of them were written. */
  resumed: number
  /** The calls among them, by their index. */
  readonly waitingCalls: Map<number, Waiting>
  /** Citations that came before their text. */
  citations: JsonObject[]
  /** Ids of uploaded files, in the order in which the reply cites them. */
  readonly citedFiles: Set<string>
  /** The text of a refusal. */
  refusal: string
  /** Parts of the reply that this dialect cannot express, by name. */
  readonly lost: Set<string>
}

/** An event that comes later, and of a call its arguments so far. */
interface Waiting {
  readonly event: InferenceEvent
  readonly pieces: string[]
}

export const newBlockState = (
  sink: BlockSink,
  { hideReasoning, request }: Pick<ReplyContext, 'hideReasoning' | 'request'>,
): BlockState => ({
  sink,
  hidesReasoning: hideReasoning,
  carrier: request.carrier,
  longNames: longNames(request.body),
  started: 0,
  open: null,
  waiting: [],
  resumed: 0,
  waitingCalls: new Map(),
  citations: [],
  citedFiles: new Set(),
  refusal: '',
  lost: new Set(),
})

/** Starts a block after the one that is open. */
export function startBlock(
  state: BlockState,
  open: NonNullable<BlockState['open']>,
  block: JsonObject,
): void {
  closeBlock(state)
  state.open = open
  state.sink.start(state.started++, block)
}

/** A complete block. */
export function addBlock(state: BlockState, block: JsonObject): void {
  closeBlock(state)
  state.sink.start(state.started++, block)
  state.sink.stop(state.started - 1)
}

/** A piece of the block that is open. */
export const addDelta = (state: BlockState, delta: JsonObject): void =>
  state.sink.delta(state.started - 1, delta)

/** A thought without a signature of its own gets one that holds its detail: clients replay it. */
export function closeBlock(state: BlockState): void {
  const { open } = state
  if (open === null) return
  if (open.kind === 'thinking' && !open.isSigned) {
    const { detail } = open
    addDelta(state, {
      type: 'signature_delta',
      signature: seal(detail === undefined ? {} : { detail }, state.carrier),
    })
  }
  if (open.kind === 'call' && open.isText) {
    addDelta(state, { type: 'input_json_delta', partial_json: !open.hasJson ? '{"input":""}' : '"}' })
  }
  state.sink.stop(state.started - 1)
  state.open = null
}
