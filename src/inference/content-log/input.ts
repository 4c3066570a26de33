import type { JsonObject } from '../../core/events.ts'
import type { GenerationContent } from '../../core/generation-content.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'

type Input = GenerationContent['input']

/**
 * The prompt in the caller's dialect, after the guardrails of its key. A system prompt beside the messages becomes the
 * first message.
 */
export function inputOf({ apiType, asked, body }: Pick<RoutedRequest, 'apiType' | 'asked' | 'body'>): Input {
  const said = asked ?? body
  switch (apiType) {
    case 'completions':
      return { messages: listOf(said['messages']) }
    case 'messages':
      return { messages: [...systemOf(said['system']), ...listOf(said['messages'])] }
    case 'gemini':
      return { messages: [...systemOf(partsOf(said['systemInstruction'])), ...listOf(said['contents'])] }
    case 'responses':
      return responsesInput(said)
    case 'embeddings':
    case 'moderation':
      return textOr(said['input'])
    case 'rerank':
      return { messages: [pick(said, ['query', 'documents'])] }
    case 'image':
      return said['input_references'] === undefined && said['mask'] === undefined
        ? textOr(said['prompt'])
        : { messages: [pick(said, ['prompt', 'input_references', 'mask'])] }
    case 'tts':
      return said['instructions'] === undefined && said['input_references'] === undefined
        ? textOr(said['input'])
        : { messages: [pick(said, ['input', 'instructions', 'input_references'])] }
    case 'stt':
      return { messages: [pick(said, ['prompt', 'input_audio'])] }
  }
}

function responsesInput(said: JsonObject): Input {
  const { input } = said
  const system = systemOf(said['instructions'])
  if (system.length === 0) return textOr(input)
  return {
    messages: [
      ...system,
      ...(typeof input === 'string' ? [{ role: 'user', content: input }] : listOf(input)),
    ],
  }
}

const textOr = (value: unknown): Input =>
  typeof value === 'string' ? { prompt: value } : { messages: listOf(value) }

const systemOf = (content: unknown): JsonObject[] =>
  content === undefined || content === null || content === '' ? [] : [{ role: 'system', content }]

const partsOf = (content: unknown): unknown => (isObject(content) ? content['parts'] : undefined)

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const pick = (body: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])))
