import type { Finish, InferenceEvent, JsonObject } from '../core/events.ts'
import { newToolCallId } from '../core/ids.ts'
import { isObject } from '../core/json.ts'
import { ANSWER_TOOL } from './claude.ts'
import { defaultReason, finishReasonOf } from './finish.ts'
import { checkCalls } from './reply-decoder.ts'
import { REASONING_FORMAT } from './thoughts.ts'

/** Content blocks of replies, as Anthropic's Messages API and Amazon's Converse both stream them. */

/** The shared state of the blocks of one reply. */
export interface Blocks {
  /** UTF-16 units of visible text so far: where the next citation begins. */
  textLength: number
  thoughts: number
  calls: number
}

/** One block while it streams. A complete block is opened and closed. */
export interface Block {
  add(delta: JsonObject, events: InferenceEvent[]): void
  /** `wasTruncated`: the bound on tokens ended it, so incomplete arguments stay incomplete. */
  close(wasTruncated: boolean, events: InferenceEvent[]): void
}

export function addText(text: string, blocks: Blocks, events: InferenceEvent[]): void {
  if (text === '') return
  blocks.textLength += text.length
  events.push({ type: 'text-delta', choice: 0, text })
}

/** Pieces of one thought share their index: replayed together they are one block again. */
export function addThought(
  text: string,
  signature: string,
  index: number,
  format: string | undefined,
  events: InferenceEvent[],
): void {
  if (text !== '') events.push({ type: 'reasoning-delta', choice: 0, text })
  if (text === '' && signature === '') return
  const detail = {
    type: 'reasoning.text',
    ...(text === '' ? {} : { text }),
    ...(signature === '' ? {} : { signature }),
    ...(format === undefined ? {} : { format }),
    index,
  }
  events.push({ type: 'reasoning-detail', choice: 0, detail })
}

/** A thought that Claude encrypted. */
export function addRedacted(data: string, index: number, events: InferenceEvent[]): void {
  if (data === '') return
  const detail = { type: 'reasoning.encrypted', data, format: REASONING_FORMAT, index }
  events.push({ type: 'reasoning-detail', choice: 0, detail })
}

/** The fields of a tool call, which the two APIs name differently. */
interface RawCall {
  readonly id: string
  readonly name: string
  /** The complete input; empty if fragments follow. */
  readonly input: unknown
  /** The fragment of JSON in a delta; '' if it has none. */
  readonly fragmentOf: (delta: JsonObject) => string
}

/** A tool call. The answer tool replaces a JSON schema: its input is the answer. */
export function callBlock(raw: RawCall, blocks: Blocks, events: InferenceEvent[]): Block {
  if (raw.name === ANSWER_TOOL) return inputBlock(raw, (json, more) => addText(json, blocks, more))
  checkCalls(blocks.calls)
  const index = blocks.calls++
  const { id, name } = raw
  events.push({ type: 'tool-call-start', choice: 0, index, id: id || newToolCallId(), name })
  return inputBlock(raw, (json, more) => more.push({ type: 'tool-call-delta', choice: 0, index, json }))
}

/** A call without input has `{}`. */
function inputBlock(
  { input, fragmentOf }: RawCall,
  emit: (json: string, events: InferenceEvent[]) => void,
): Block {
  let isEmpty = true
  return {
    add(delta, events) {
      const json = fragmentOf(delta)
      if (json === '') return
      isEmpty = false
      emit(json, events)
    },
    close(wasTruncated, events) {
      if (!isEmpty) return
      const json = isObject(input) ? JSON.stringify(input) : '{}'
      if (json !== '{}' || !wasTruncated) emit(json, events)
    },
  }
}

/** Reasons that truncate an answer: an open call keeps its incomplete arguments. */
export const isTruncation = (native: string | null): boolean =>
  native === 'max_tokens' || native === 'model_context_window_exceeded'

/** `tool_use` without a client's call is the answer tool, which is a plain answer. */
export function finishOf(native: string | null, { calls }: Blocks): Finish {
  const hasCalls = calls > 0
  const isPlain = native === null || (native === 'tool_use' && !hasCalls)
  return { choice: 0, reason: isPlain ? defaultReason(hasCalls) : finishReasonOf(native, hasCalls), native }
}
