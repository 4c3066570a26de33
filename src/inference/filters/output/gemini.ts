import type { JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import type { NativeInput, NativeOutput } from './native-output.ts'

/**
 * Filters the chunks of a Gemini provider for a Gemini caller. Parts with a neutral event are removed, since the filtered
 * event replaces them. All other text is scanned. Fields that repeat the reply's text are dropped and reported.
 */
export function createGeminiRelay({ scanners, drop }: NativeInput): NativeOutput {
  function restOf(candidate: unknown): unknown {
    if (!isObject(candidate)) return candidate
    const rest: JsonObject = {}
    for (const [name, value] of Object.entries(candidate)) {
      if (name === 'content' && isObject(value)) {
        const parts = Array.isArray(value['parts']) ? value['parts'].filter(isNotNeutral) : []
        if (parts.length > 0) rest['content'] = { ...value, parts }
      } else if (REPEATING.has(name)) drop(`candidates.${name}`)
      else if (!NEUTRAL_FIELDS.has(name)) rest[name] = value
    }
    return rest
  }

  return {
    take(event, out) {
      const chunk = isObject(event.data) ? event.data['chunk'] : undefined
      if (!isObject(chunk)) return
      const { candidates, ...fields } = chunk
      const rest = Array.isArray(candidates) ? { ...fields, candidates: candidates.map(restOf) } : fields
      const passed = scanners.scan(rest)
      if (scanners.isBlocked || !isObject(passed)) return
      out.push({ ...event, data: { chunk: passed, isRest: true } })
    },
    beside: () => undefined,
    end: () => undefined,
  }
}

/** Fields of parts that have a neutral event. */
const NEUTRAL_PARTS = ['text', 'functionCall', 'inlineData', 'fileData']
const isNotNeutral = (part: unknown): boolean => isObject(part) && !NEUTRAL_PARTS.some((name) => name in part)

const NEUTRAL_FIELDS: ReadonlySet<string> = new Set([
  'groundingMetadata',
  'citationMetadata',
  'logprobsResult',
])
/** Fields that repeat unfiltered text of the reply. */
const REPEATING: ReadonlySet<string> = new Set(['finishMessage'])
