import type { JsonObject } from '../../core/events.ts'
import { asList, asObject, asText, defined, isObject, isString, textOf } from '../../core/json.ts'
import type { InferenceRequest, Tool, ToolChoice } from '../../core/request.ts'
import { writeUser } from '../caller-fields.ts'
import { type Drop, dropFields } from '../dropped.ts'
import { type ReplayRules, writeInput } from './build-input.ts'

/**
 * The body of a request that came in another dialect.
 *
 * | neutral | Responses |
 * |---|---|
 * | messages | `input`, by the table in `items.ts`; instructions stay messages, where they stood |
 * | tools, tool choice, parallel calls | `tools`, `tool_choice`, `parallel_tool_calls` (`build-tools.ts`) |
 * | response format | `text.format` |
 * | `verbosity` of chat | `text.verbosity` |
 * | temperature, top_p, top_logprobs | the same; `logprobs` is in `include` |
 * | the bound on output | `max_output_tokens` (`build.ts`) |
 * | reasoning | `reasoning` (`build-reasoning.ts`) |
 * | service tier, user, metadata, safety identifier, fields of prompt caching | the same |
 *
 * Other parameters are dropped by name, Anthropic's cache markers too: OpenAI caches prompts by itself.
 */
export function neutralBody(request: InferenceRequest, rules: ReplayRules, drop: Drop): JsonObject {
  const { sampling, body } = request
  const tools = writeTools(request.tools, body, drop)
  const text = defined({
    format: writeFormat(request.responseFormat, drop),
    verbosity: wordIn(body, 'verbosity'),
  })
  dropWordless(request, drop)
  return defined({
    input: writeInput(request.messages, rules, drop),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? writeToolChoice(request.toolChoice, drop) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallelToolCalls : undefined,
    text: Object.keys(text).length > 0 ? text : undefined,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_logprobs: sampling.topLogprobs,
    include: sampling.logprobs === true ? ['message.output_text.logprobs'] : undefined,
    service_tier: request.serviceTier,
    user: writeUser(request, drop),
    metadata: request.metadata,
    safety_identifier: wordIn(body, 'safety_identifier'),
    prompt_cache_key: wordIn(body, 'prompt_cache_key'),
    prompt_cache_retention: wordIn(body, 'prompt_cache_retention'),
    prompt_cache_options: asObject(body.prompt_cache_options),
  })
}

const wordIn = (body: JsonObject, name: string): string | undefined => {
  const value = body[name]
  return asText(value)
}

/** Chat nests the schema under its type; here its fields are beside the type. */
function writeFormat(format: JsonObject | undefined, drop: Drop): JsonObject | undefined {
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
    case 'json_object':
      return { type: format.type }
    case 'json_schema': {
      const { name, schema, strict, description } = asObject(format.json_schema) ?? format
      return defined({
        type: 'json_schema',
        name: name ?? 'answer',
        description: description ?? undefined,
        schema,
        strict: strict ?? undefined,
      })
    }
    default:
      drop('response_format')
      return undefined
  }
}

/** Parameters without a word in this dialect, by the API's name. */
function dropWordless({ sampling, choiceCount, modalities, body }: InferenceRequest, drop: Drop): void {
  const without: Readonly<Record<string, unknown>> = {
    top_k: sampling.topK,
    top_a: sampling.topA,
    min_p: sampling.minP,
    frequency_penalty: sampling.frequencyPenalty || undefined,
    presence_penalty: sampling.presencePenalty || undefined,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    stop: sampling.stop,
    logit_bias: sampling.logitBias,
    n: choiceCount === 1 ? undefined : choiceCount,
    modalities: modalities?.every((name) => name === 'text') ? undefined : modalities,
  }
  for (const [name, value] of Object.entries(without)) if (value !== undefined) drop(name)
  for (const name of WORDLESS) if (body[name] !== undefined && body[name] !== null) drop(name)
}

/** Parameters of callers that the neutral request has no field for. */
const WORDLESS = ['prediction', 'image_config', 'audio', 'cache_control']
const NO_EXTRAS: readonly string[] = []

/**
 * | tool | written |
 * |---|---|
 * | function | `function`, flat; `strict` is always sent: its default is true here and false in chat |
 * | chat's `custom` | `custom`, flat |
 * | Anthropic's `web_search_…` | `web_search` |
 * | a built-in tool of this API | as it came |
 * | any other | left out and named |
 * | `web_search_options` of chat | `web_search` |
 */
function writeTools(tools: readonly Tool[], body: JsonObject, drop: Drop): JsonObject[] {
  const written = tools.flatMap((tool) => writeTool(tool, drop))
  const options = body.web_search_options
  if (isObject(options)) written.push(writeSearchOptions(options))
  return written
}

function writeTool(tool: Tool, drop: Drop): JsonObject[] {
  if (tool.type === 'function') {
    const { name, description, parameters, strict, extra } = tool
    dropFields(extra, 'tools', NO_EXTRAS, drop)
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
  const type = textOf(data.type)
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
  const custom = asObject(data.custom) ?? data
  const { name, description, format } = custom
  const grammar = asObject(asObject(format)?.grammar)
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
    user_location: asObject(user_location),
  })
}

/** Chat nests the place once more. */
function writeSearchOptions({ search_context_size, user_location }: JsonObject): JsonObject {
  const place = asObject(asObject(user_location)?.approximate)
  return defined({
    type: 'web_search',
    search_context_size,
    user_location: place ? { type: 'approximate', ...place } : undefined,
  })
}

/** Chat nests the name under the type; this API has it beside. */
function writeToolChoice(choice: ToolChoice | undefined, drop: Drop): unknown {
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
  const { mode, tools } = asObject(data.allowed_tools) ?? data
  const listed = asList(tools)
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
