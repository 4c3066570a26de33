import type { JsonObject } from '../../core/events.ts'
import type { GenerationContent } from '../../core/generation-content.ts'
import { asList, isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'

type Input = GenerationContent['input']

/**
 * The prompt in the caller's dialect, after the guardrails of its key. A system prompt beside the messages becomes the
 * first message.
 */
export function inputOf({
  apiType,
  unexpanded,
  body,
}: Pick<RoutedRequest, 'apiType' | 'unexpanded' | 'body'>): Input {
  const source = unexpanded ?? body
  switch (apiType) {
    case 'completions':
      return { messages: asList(source['messages']) }
    case 'messages':
      return { messages: [...systemOf(source['system']), ...asList(source['messages'])] }
    case 'gemini':
      return { messages: [...systemOf(partsOf(source['systemInstruction'])), ...asList(source['contents'])] }
    case 'responses':
      return responsesInput(source)
    case 'embeddings':
    case 'moderation':
      return textOr(source['input'])
    case 'ocr':
      return { messages: [pick(source, ['document'])] }
    case 'rerank':
      return { messages: [pick(source, ['query', 'documents'])] }
    case 'image':
      return source['input_references'] === undefined && source['mask'] === undefined
        ? textOr(source['prompt'])
        : { messages: [pick(source, ['prompt', 'input_references', 'mask'])] }
    case 'tts':
      return source['instructions'] === undefined && source['input_references'] === undefined
        ? textOr(source['input'])
        : { messages: [pick(source, ['input', 'instructions', 'input_references'])] }
    case 'stt':
      return { messages: [pick(source, ['prompt', 'input_audio'])] }
  }
}

function responsesInput(source: JsonObject): Input {
  const { input } = source
  const system = systemOf(source['instructions'])
  if (system.length === 0) return textOr(input)
  return {
    messages: [
      ...system,
      ...(typeof input === 'string' ? [{ role: 'user', content: input }] : asList(input)),
    ],
  }
}

const textOr = (value: unknown): Input =>
  typeof value === 'string' ? { prompt: value } : { messages: asList(value) }

const systemOf = (content: unknown): JsonObject[] =>
  content === undefined || content === null || content === '' ? [] : [{ role: 'system', content }]

const partsOf = (content: unknown): unknown => (isObject(content) ? content['parts'] : undefined)

const pick = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])))
