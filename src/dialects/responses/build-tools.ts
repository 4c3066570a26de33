import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString } from '../../core/json.ts'
import type { Tool, ToolChoice } from '../../core/request.ts'
import type { Drop } from './build-content.ts'

/**
 * | tool | written |
 * |---|---|
 * | function | `function`, flat; `strict` is always said: unsaid it means true here and false in chat |
 * | chat's `custom` | `custom`, flat |
 * | Anthropic's `web_search_…` | `web_search` |
 * | a built-in tool of this API | as it came |
 * | any other | left out and named |
 * | `web_search_options` of chat | `web_search` |
 */
export function writeTools(tools: readonly Tool[], body: JsonObject, drop: Drop): JsonObject[] {
  const written = tools.flatMap((tool) => writeTool(tool, drop))
  const options = body.web_search_options
  if (isObject(options)) written.push(writeSearchOptions(options))
  return written
}

function writeTool(tool: Tool, drop: Drop): JsonObject[] {
  if (tool.type === 'function') {
    const { name, description, parameters, strict } = tool
    return [
      defined({
        type: 'function',
        name,
        description,
        parameters: parameters ?? { type: 'object', properties: {} },
        strict: strict ?? false,
      }),
    ]
  }
  const { data } = tool
  const type = isString(data.type) ? data.type : ''
  if (type === 'custom') return [writeCustom(data)]
  if (/^web_search_\d{8}$/.test(type)) return [writeAnthropicSearch(data, drop)]
  if (BUILT_IN.test(type)) return [data]
  drop(`tools.${type}`)
  return []
}

/** OpenAI's and xAI's own, perhaps with a date. */
const BUILT_IN =
  /^(?:web_search|web_search_preview|x_search|file_search|collections_search|code_interpreter|code_execution|image_generation|mcp|computer|computer_use_preview|local_shell|shell|apply_patch|namespace|tool_search)(?:_\d{4}_\d{2}_\d{2})?$/

/** Chat nests what this API has flat. */
function writeCustom(data: JsonObject): JsonObject {
  const custom = isObject(data.custom) ? data.custom : data
  const { name, description, format } = custom
  const grammar = isObject(format) && isObject(format.grammar) ? format.grammar : undefined
  return defined({
    type: 'custom',
    name,
    description,
    format: grammar ? { type: 'grammar', ...grammar } : format,
  })
}

function writeAnthropicSearch(data: JsonObject, drop: Drop): JsonObject {
  const { allowed_domains, user_location } = data
  for (const name of ['max_uses', 'blocked_domains']) if (data[name] != null) drop(`tools.web_search.${name}`)
  return defined({
    type: 'web_search',
    filters: Array.isArray(allowed_domains) ? { allowed_domains } : undefined,
    user_location: isObject(user_location) ? user_location : undefined,
  })
}

/** Chat nests the place once more. */
function writeSearchOptions({ search_context_size, user_location }: JsonObject): JsonObject {
  const place =
    isObject(user_location) && isObject(user_location.approximate) ? user_location.approximate : undefined
  return defined({
    type: 'web_search',
    search_context_size,
    user_location: place ? { type: 'approximate', ...place } : undefined,
  })
}

/** Chat nests the name under the type; this API has it beside. */
export function writeToolChoice(choice: ToolChoice | undefined, drop: Drop): unknown {
  if (choice === undefined || isString(choice)) return choice
  if (choice.type === 'function') return { type: 'function', name: choice.name }
  const { data } = choice
  if (data.type === 'custom') return { type: 'custom', name: nameIn(data, 'custom') }
  if (data.type === 'allowed_tools') return writeAllowed(data)
  if (isString(data.type) && BUILT_IN.test(data.type)) return data
  drop('tool_choice')
  return undefined
}

function writeAllowed(data: JsonObject): JsonObject {
  const { mode, tools } = isObject(data.allowed_tools) ? data.allowed_tools : data
  const listed: unknown[] = Array.isArray(tools) ? tools : []
  return defined({
    type: 'allowed_tools',
    mode,
    tools: listed.filter(isObject).map((tool) => {
      const { type } = tool
      return type === 'function' || type === 'custom' ? { type, name: nameIn(tool, type) } : tool
    }),
  })
}

const nameIn = (data: JsonObject, type: string): unknown => {
  const nested = data[type]
  return isObject(nested) ? nested.name : data.name
}
