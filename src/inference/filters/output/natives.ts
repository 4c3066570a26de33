import type { JsonObject } from '../../../core/events.ts'
import { isObject } from '../../../core/json.ts'
import { words } from '../../../core/words.ts'
import { ownPieceOf } from '../../../dialects/own-pieces.ts'
import { NO_TEXT } from '../scanners.ts'
import { createGeminiRelay } from './gemini.ts'
import { createMessagesRelay } from './messages.ts'
import type { Native, NativeInput, NativeOutput } from './native-output.ts'
import { createResponsesRelay } from './responses.ts'

/** Drops native events of other dialects than the caller's: no writer reads them. */
export function createNativeOutput(input: NativeInput): NativeOutput {
  if (input.isLoop) return piecesAlone(input)
  const own = input.isStream || input.dialect === 'gemini' ? relayOf(input) : bufferedRelay(input)
  return {
    ...own,
    take(event, out) {
      if (event.dialect === input.dialect && ownPieceOf(event) === undefined) own.take(event, out)
    },
  }
}

function piecesAlone({ scanners, flush }: NativeInput): NativeOutput {
  return {
    take(event, out) {
      if (ownPieceOf(event) === undefined) return
      flush(out)
      const data = scanners.isBlocked ? null : scanners.scan(event.data)
      if (!scanners.isBlocked) out.push(data === event.data ? event : { ...event, data })
    },
    beside: () => undefined,
    end: () => undefined,
  }
}

function relayOf(input: NativeInput): NativeOutput {
  if (input.dialect === 'messages') return createMessagesRelay(input)
  if (input.dialect === 'gemini') return createGeminiRelay(input)
  return input.dialect === 'responses' ? createResponsesRelay(input) : chatRelay(input)
}

/**
 * Native events of a complete reply repeat all its texts. They are released unchanged, or dropped if a filter changed the
 * reply or would change them: then the neutral events contain the reply.
 */
function bufferedRelay({ scanners, drop }: NativeInput): NativeOutput {
  const natives: Native[] = []
  return {
    take(event) {
      natives.push(event)
    },
    beside: () => undefined,
    end(out) {
      if (
        scanners.replaced === 0 &&
        !scanners.isBlocked &&
        natives.every(({ data }) => scanners.isClean(data))
      ) {
        out.push(...natives)
      } else for (const { data } of natives) for (const name of namesIn(data)) drop(name)
    },
  }
}

/** Blocks and items with neutral events. */
const CARRIED = new Set<unknown>(
  words('text thinking redacted_thinking tool_use message reasoning function_call custom_tool_call'),
)

/** The names of the fields that are dropped with a native event. */
function namesIn(data: unknown): string[] {
  if (!isObject(data)) return []
  const { message, event, chunk, choices } = data
  const blocks = isObject(message) && Array.isArray(message['content']) ? message['content'] : []
  const item = isObject(event) ? (event['item'] ?? event['content_block']) : undefined
  const types = [...blocks, item].flatMap((block: unknown) =>
    isObject(block) && typeof block['type'] === 'string' && !CARRIED.has(block['type'])
      ? [block['type']]
      : [],
  )
  const fields = Array.isArray(choices)
    ? choices.flatMap((choice: unknown) => (isObject(choice) ? namesOfChoice(choice) : []))
    : []
  return [...types, ...(isObject(chunk) ? Object.keys(chunk) : []), ...fields]
}

const namesOfChoice = ({ choice, message }: JsonObject): string[] => [
  ...(isObject(choice) ? Object.keys(choice).map((name) => `choices.${name}`) : []),
  ...(isObject(message) ? Object.keys(message).map((name) => `message.${name}`) : []),
]

/** Unknown texts of a delta come in pieces that cannot be joined here, so they are dropped. */
function chatRelay({ scanners, drop }: NativeInput): NativeOutput {
  function choiceOf(choice: unknown): unknown {
    if (!isObject(choice) || !isObject(choice['message'])) return choice
    const { message, ...rest } = choice
    const kept = Object.entries(message).filter(([name, value]) => {
      const isKept = NO_TEXT.has(name) || !hasText(value)
      if (!isKept) drop(`message.${name}`)
      return isKept
    })
    return kept.length === 0 ? rest : { ...rest, message: Object.fromEntries(kept) }
  }

  return {
    take(event, out) {
      const { data } = event
      if (!isObject(data)) return
      const { choices } = data
      const known = Array.isArray(choices) ? { ...data, choices: choices.map(choiceOf) } : data
      const next = scanners.scan(known)
      out.push({ ...event, data: next })
    },
    beside: () => undefined,
    end: () => undefined,
  }
}

function hasText(value: unknown): boolean {
  if (typeof value === 'string') return value !== ''
  if (Array.isArray(value)) return value.some(hasText)
  return (
    isObject(value) && Object.entries(value).some(([name, field]) => !NO_TEXT.has(name) && hasText(field))
  )
}
