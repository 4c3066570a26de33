import type { JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import type { NativeInput, NativeOutput } from './native-output.ts'

/**
 * The chunks of a provider that speaks the caller's dialect, Gemini. Parts that neutral events carry are removed here,
 * since they pass as filtered events. Every further text is scanned; fields that repeat the reply's text are dropped by
 * name.
 */
export function createGeminiRelay({ scanners, drop }: NativeInput): NativeOutput {
  function restOf(candidate: unknown): unknown {
    if (!isObject(candidate)) return candidate
    const rest: JsonObject = {}
    for (const [name, value] of Object.entries(candidate)) {
      if (name === 'content' && isObject(value)) {
        const parts = Array.isArray(value['parts']) ? value['parts'].filter(isUntold) : []
        if (parts.length > 0) rest['content'] = { ...value, parts }
      } else if (REPEATING.has(name)) drop(`candidates.${name}`)
      else if (!TOLD_FIELDS.has(name)) rest[name] = value
    }
    return rest
  }

  return {
    take(event, out) {
      const chunk = isObject(event.data) ? event.data['chunk'] : undefined
      if (!isObject(chunk)) return
      const { candidates, ...fields } = chunk
      const rest = Array.isArray(candidates) ? { ...fields, candidates: candidates.map(restOf) } : fields
      const passed = scanners.whole(rest)
      if (scanners.isBlocked || !isObject(passed)) return
      out.push({ ...event, data: { chunk: passed, isRest: true } })
    },
    beside: () => undefined,
    end: () => undefined,
  }
}

/** Parts that neutral events carry, with the fields that may be beside them. */
const NEUTRAL_PARTS = ['text', 'functionCall', 'inlineData', 'fileData']
const isUntold = (part: unknown): boolean => isObject(part) && !NEUTRAL_PARTS.some((name) => name in part)

const TOLD_FIELDS: ReadonlySet<string> = new Set(['groundingMetadata', 'citationMetadata', 'logprobsResult'])
/** Fields with text of the reply that is not scanned. */
const REPEATING: ReadonlySet<string> = new Set(['finishMessage'])
