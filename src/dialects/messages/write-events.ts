import type { Finish, FinishReason, JsonObject } from '../../core/events.ts'
import { oneLine } from '../json-text.ts'

export interface StreamEvent extends JsonObject {
  type: string
}

/** One event of a stream: its name is its type. */
export const writeEvent = (event: StreamEvent): string =>
  `event: ${event.type}\ndata: ${oneLine(JSON.stringify(event))}\n\n`

export const PING = writeEvent({ type: 'ping' })

/** Pieces of text from the JSON texts of their strings: what `writeEvent` would give, without an encoding. */
export function spliceText(index: number, jsons: readonly string[]): string {
  const head = `event: content_block_delta\ndata: {"type":"content_block_delta","index":${index},"delta":{"type":"text_delta","text":"`
  return `${head}${jsons.length === 1 ? jsons[0] : jsons.join(TEXT_END + head)}${TEXT_END}`
}

const TEXT_END = '"}}\n\n'

/** Anthropic's stop reasons. `error` has none: a reply that broke off has not stopped. */
const STOP_REASONS: Readonly<Record<FinishReason, string | null>> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  content_filter: 'refusal',
  error: null,
}

/** Words of providers that are more exact than ours, and are Anthropic's too. */
const KEPT: Readonly<Record<string, FinishReason>> = {
  stop_sequence: 'stop',
  pause_turn: 'stop',
  compaction: 'stop',
  model_context_window_exceeded: 'length',
}

function stopReasonOf({ reason, native }: Finish): string | null {
  return native !== null && Object.hasOwn(KEPT, native) && KEPT[native] === reason
    ? native
    : STOP_REASONS[reason]
}

/** How a message ended. `refusal`: the text of a refusal, under any finish reason. */
export function viewStop(finish: Finish | undefined, refusal: string): JsonObject {
  const reported = finish ? stopReasonOf(finish) : STOP_REASONS.stop
  const reason = refusal === '' ? reported : STOP_REASONS.content_filter
  return {
    stop_reason: reason,
    stop_sequence: null,
    stop_details:
      reason === 'refusal' ? { type: 'refusal', category: null, explanation: refusal || null } : null,
    container: null,
  }
}
