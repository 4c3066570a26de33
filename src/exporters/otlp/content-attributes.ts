import type { JsonObject } from '../../core/events.ts'
import { asList, isObject, textOf } from '../../core/json.ts'
import type { Conversation } from '../conversation.ts'
import { jsonText } from '../json-text.ts'
import { withoutMedia } from '../media.ts'
import type { ExportRecord } from '../record.ts'
import type { Attributes } from './span.ts'

/** Prompt, answer and declared tools, as JSON text: most receivers of spans read no structured attributes. */
export function contentAttributes({ content }: ExportRecord, conversation: Conversation | null): Attributes {
  if (content === null || conversation === null) return {}
  return {
    'gen_ai.system_instructions': listText(conversation.system),
    'gen_ai.input.messages': listText(conversation.input),
    'gen_ai.output.messages': listText(conversation.output),
    'gen_ai.tool.definitions': listText(toolDefinitions(content.tools)),
  }
}

const listText = (list: readonly unknown[]): string | null => (list.length === 0 ? null : jsonText(list))

/** Declarations of any dialect in the conventions' form: `type`, `name`, `description`, `parameters`. */
const toolDefinitions = (tools: readonly unknown[] | null): JsonObject[] =>
  asList(withoutMedia(tools)).flatMap((tool) =>
    isObject(tool) ? declarationsIn(tool).map(definitionOf) : [],
  )

const declarationsIn = (tool: JsonObject): JsonObject[] => {
  const functions = asList(tool['functionDeclarations'] ?? tool['function_declarations'])
  return functions.length === 0 ? [tool] : functions.filter(isObject)
}

function definitionOf(tool: JsonObject): JsonObject {
  const declared = isObject(tool['function']) ? tool['function'] : tool
  const { type, name, input_schema, parameters = input_schema, ...rest } = declared
  const kind = textOf(tool['type'] ?? type)
  if (typeof name !== 'string') return tool
  return {
    // A type of its own belongs to a tool that the provider runs.
    type: kind === '' || kind === 'custom' ? 'function' : kind,
    name,
    ...rest,
    ...(parameters === undefined ? {} : { parameters }),
  }
}
