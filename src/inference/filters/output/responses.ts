import type { InferenceEvent, JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import { words } from '../../../core/words.ts'
import { NO_TEXT } from '../scanners.ts'
import type { NativeInput, NativeOutput } from './native-output.ts'

/**
 * Filters the stream of a Responses provider for a Responses caller. Starts and ends of items are forwarded. If a filter
 * changed an item, its end is forwarded without content, and the writer adds the streamed content.
 */
export function createResponsesRelay({ scanners, flush, drop }: NativeInput): NativeOutput {
  const last: InferenceEvent[] = []
  const replacedBefore = new Map<unknown, number>()

  const native = (event: JsonObject): InferenceEvent => ({
    type: 'native',
    dialect: 'responses',
    data: { event },
  })

  function item(event: JsonObject, whole: JsonObject, out: InferenceEvent[]): void {
    const { output_index: at } = event
    if (!NEUTRAL.has(whole['type'])) {
      const next = scanners.scan(event)
      if (isObject(next)) out.push(native(next))
    } else if (event['type'] === 'response.output_item.added') {
      replacedBefore.set(at, scanners.replaced)
      out.push(native({ ...event, item: emptied(whole) }))
    } else {
      flush(out)
      if (scanners.isBlocked) return
      const isUnchanged = (replacedBefore.get(at) ?? 0) === scanners.replaced && scanners.isClean(whole)
      out.push(native(isUnchanged ? event : { ...event, item: emptied(whole) }))
    }
  }

  /** Items have their own events. Every other field is scanned, except those that repeat the request. */
  function scannedResponse(response: JsonObject): JsonObject {
    const entries = Object.entries(response).map(([name, value]) => [
      name,
      REQUEST_FIELDS.has(name) || NO_TEXT.has(name) || name.endsWith('_id') ? value : scanners.scan(value),
    ])
    return Object.fromEntries(entries)
  }

  return {
    take({ data }, out) {
      if (!isObject(data)) return
      const { event, response } = data
      if (isObject(response)) {
        const shown = scannedResponse(response)
        if (scanners.isBlocked) return
        const native: InferenceEvent = { type: 'native', dialect: 'responses', data: { response: shown } }
        // The reason for an incomplete response comes at the end, where a filter may replace it.
        if (isObject(response['incomplete_details'])) last.push(native)
        else out.push(native)
      }
      if (!isObject(event)) return
      if (isObject(event['item'])) item(event, event['item'], out)
      // Deltas of native items: the end of the item repeats them.
      else if (typeof event['delta'] === 'string') drop(String(event['type']))
      else {
        const next = scanners.scan(event)
        if (isObject(next)) out.push(native(next))
      }
    },
    beside: () => undefined,
    end(out) {
      if (!scanners.isBlocked) out.push(...last)
    },
  }
}

/** Fields that repeat the request, describe the end, or are written by the gateway. */
const REQUEST_FIELDS: ReadonlySet<string> = new Set(
  words(`
  error incomplete_details instructions metadata output_text prompt prompt_cache_key reasoning
  safety_identifier text tool_choice tools truncation user
`),
)

/** Items whose content has neutral events. */
const NEUTRAL = new Set<unknown>(['message', 'reasoning', 'function_call', 'custom_tool_call'])

function emptied(item: JsonObject): JsonObject {
  switch (item['type']) {
    case 'message':
      return { ...item, content: [] }
    case 'reasoning': {
      const { content: _, ...rest } = item
      return { ...rest, summary: [] }
    }
    case 'function_call':
      return { ...item, arguments: '' }
    default:
      return { ...item, input: '' }
  }
}
