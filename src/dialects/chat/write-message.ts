import type { Annotation, JsonObject, ReasoningDetail } from '../../core/events.ts'
import { isObject, restOf } from '../../core/json.ts'
import type { ToolCall } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { isFileCitation, isUrlCitation, viewFileCitation } from '../citation.ts'

/**
 * The `data` of `native` events of the chat dialect: the fields of one chunk (or one unary body) that our reader
 * does not know, by the place where they stood. Our chat writer puts them back there.
 */
export interface ChatNative {
  /** Top level: `system_fingerprint` and whatever else. */
  chunk?: JsonObject
  choices?: { index: number; choice?: JsonObject; message?: JsonObject }[]
}

/** Pieces of a message in the chat dialect, which a reply and a delta write the same way. */

/** OpenAI nests the citation under its type; an annotation of another shape is forwarded as it came. */
export function viewAnnotation(annotation: Annotation): JsonObject {
  if (isFileCitation(annotation)) return viewFileCitation(annotation)
  if (!isUrlCitation(annotation)) return annotation
  const { url, title, content, startIndex, endIndex } = annotation
  return {
    type: 'url_citation',
    url_citation: {
      url,
      title,
      ...(content === undefined ? {} : { content }),
      start_index: startIndex,
      end_index: endIndex,
    },
  }
}

export const viewImage = (url: string): JsonObject => ({ type: 'image_url', image_url: { url } })

/** Reasoning in the form that clients replay, for an upstream that sent it as bare text. */
export const reasoningTextDetail = (text: string): ReasoningDetail => ({
  type: 'reasoning.text',
  text,
  format: 'unknown',
  index: 0,
})

/** What a tool call's type calls its content: OpenAI's custom tools take free text, all others JSON arguments. */
export function viewCalled(type: string, name: string | undefined, json: string): JsonObject {
  const named = name === undefined ? {} : { name }
  return type === 'custom'
    ? { custom: { ...named, input: json } }
    : { function: { ...named, arguments: json } }
}

export const typeOfCall = (extra: JsonObject | undefined): string =>
  typeof extra?.type === 'string' ? extra.type : 'function'

/** Unknown fields of the call are kept beside ours. */
export function viewToolCall({ id, name, arguments: json, extra }: ToolCall): JsonObject {
  const type = typeOfCall(extra)
  return { ...extra, id, type, ...viewCalled(type, name, json) }
}

export const isChatNative = (data: unknown): data is ChatNative =>
  isObject(data) &&
  (data.chunk === undefined || isObject(data.chunk)) &&
  (data.choices === undefined || (Array.isArray(data.choices) && data.choices.every(isNativeChoice)))

const isNativeChoice = (choice: unknown): boolean => isObject(choice) && typeof choice.index === 'number'

const OWN = new Set(
  words('id object created model provider choices usage error service_metadata openrouter_metadata'),
)

/** Unknown fields of the top level, without those that the gateway writes itself. */
export const foreignFields = (chunk: JsonObject | undefined): JsonObject | undefined =>
  chunk && restOf(chunk, OWN)

const REASONING = new Set(
  words('reasoning reasoning_content reasoning_details reasoning_text thinking thinking_blocks'),
)

/** Unknown fields of a message or delta, without reasoning under any known name when it is to be hidden. */
export function foreignMessage(
  message: JsonObject | undefined,
  hideReasoning: boolean,
): JsonObject | undefined {
  if (!message || !hideReasoning) return message
  const shown = restOf(message, REASONING)
  if (!Array.isArray(shown?.content_parts)) return shown
  return { ...shown, content_parts: shown.content_parts.filter((part) => !isReasoningPart(part)) }
}

/** A part of the content in a form that the reader does not know, such as `redacted_thinking`. */
const isReasoningPart = (part: unknown): boolean =>
  isObject(part) && typeof part.type === 'string' && /think|reason/i.test(part.type)
