import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, restOf } from '../../core/json.ts'
import type { InferenceRequest, Reasoning, Sampling, Tool, ToolChoice } from '../../core/request.ts'
import { checkMetadata, readConversationRouting } from '../caller-fields.ts'
import { GATEWAY_FIELDS } from '../caller-schema.ts'
import { refuseResumption } from '../failed-stream.ts'
import { bodyCheck, quoted } from '../mismatch.ts'
import { readMessages } from './parse-messages.ts'
import { type ChatBody, chatBody } from './schema.ts'
import { wantsToolEvents } from './tool-events.ts'

const checkBody = bodyCheck(chatBody)

/**
 * Reads the body of POST /chat/completions. Throws a `GatewayError` 400 that names the field by its path, what is allowed and, if it is short, the value. `request.body` is the body itself, unknown fields included; `models`
 * is empty when the caller named none.
 */
export function parseChat(input: JsonObject, headers: Headers): InferenceRequest {
  refuseResumption(headers)
  const body = checkBody(input)
  checkMetadata(body.metadata)
  const routing = readConversationRouting('completions', 'chat', body, headers)
  const tools = readTools(body.tools)
  return {
    ...routing,
    messages: readMessages(body.messages),
    tools,
    toolChoice: readToolChoice(body.tool_choice, tools),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    responseFormat: readResponseFormat(body.response_format),
    reasoning: readReasoning(body),
    sampling: readSampling(body),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    choiceCount: body.n ?? undefined,
    modalities: body.modalities ?? undefined,
    serviceTier: body.service_tier ?? undefined,
    metadata: body.metadata ?? undefined,
    echoUpstreamBody: routing.stream && body.debug?.echo_upstream_body === true,
    parameters: parametersOf(body),
    ownFields: ownFieldsOf(body),
    ...(wantsToolEvents(headers) && { showsToolEvents: true }),
  }
}

/** The request's parameters that the catalogue has a word for (`supported_parameters`). */
const CATALOGUE_PARAMETERS = [
  'temperature',
  'top_p',
  'top_k',
  'min_p',
  'top_a',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'max_tokens',
  'max_completion_tokens',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'prediction',
  'seed',
  'response_format',
  'stop',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'include_reasoning',
  'reasoning',
  'reasoning_effort',
  'web_search_options',
  'verbosity',
] as const

/** The parameters that the caller set; null and an empty list count as unset. */
function parametersOf(body: JsonObject & ChatBody): string[] {
  const names: string[] = []
  for (const name of CATALOGUE_PARAMETERS) if (isSet(body[name])) names.push(name)
  if (body.response_format?.type === 'json_schema') names.push('structured_outputs')
  return names
}

const isSet = (value: unknown): boolean =>
  value !== undefined && value !== null && !(Array.isArray(value) && value.length === 0)

function readSampling(body: ChatBody): Sampling {
  const stop = typeof body.stop === 'string' ? [body.stop] : body.stop
  return {
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    topA: body.top_a ?? undefined,
    minP: body.min_p ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    repetitionPenalty: body.repetition_penalty ?? undefined,
    seed: body.seed ?? undefined,
    stop: stop && stop.length > 0 ? stop : undefined,
    logitBias: body.logit_bias ?? undefined,
    logprobs: body.logprobs ?? undefined,
    topLogprobs: body.top_logprobs ?? undefined,
  }
}

const KNOWN = new Set(['effort', 'max_tokens', 'enabled', 'exclude', 'summary'])

/** `reasoning`, `reasoning_effort` and `include_reasoning` are three ways to say the same: they become one. */
function readReasoning(body: ChatBody): Reasoning | undefined {
  const { reasoning, reasoning_effort, include_reasoning } = body
  if (!reasoning && !reasoning_effort && include_reasoning !== false) return undefined
  if (reasoning_effort && reasoning?.effort && reasoning_effort !== reasoning.effort) {
    throw badRequest(
      `is "${reasoning_effort}" but reasoning.effort is "${reasoning.effort}": send one of the two, or the same in both`,
      'reasoning_effort',
    )
  }
  const read = defined<Reasoning>({
    effort: reasoning?.effort ?? reasoning_effort ?? undefined,
    maxTokens: reasoning?.max_tokens ?? undefined,
    enabled: reasoning?.enabled ?? undefined,
    exclude: reasoning?.exclude ?? (include_reasoning === false ? true : undefined),
    summary: reasoning?.summary ?? undefined,
    extra: reasoning ? restOf(reasoning, KNOWN) : undefined,
  })
  return Object.keys(read).length === 0 ? undefined : read
}

const TOOL = new Set(['type', 'function'])

/** Function tools in neutral form; built-in and server tools as they came. */
const readTools = (tools: ChatBody['tools']): Tool[] => (tools ? tools.map(readTool) : [])

function readTool(tool: NonNullable<ChatBody['tools']>[number]): Tool {
  if (tool.type !== 'function' || !('function' in tool)) return { type: 'other', data: { ...tool } }
  const { name, description, parameters, strict } = tool.function
  return {
    type: 'function',
    name,
    description: description ?? undefined,
    parameters: parameters ?? undefined,
    strict: strict ?? undefined,
    extra: restOf(tool, TOOL),
  }
}

/** Throws a `GatewayError` 400 for a choice that the tools cannot fulfil. */
function readToolChoice(choice: ChatBody['tool_choice'], tools: readonly Tool[]): ToolChoice | undefined {
  if (choice === null || choice === undefined) return undefined
  if (choice === 'required' && tools.length === 0) {
    throw badRequest('is "required", and there are no tools', 'tool_choice')
  }
  if (typeof choice === 'string') return choice
  if (choice.type !== 'function') return { type: 'other', data: { ...choice } }
  if (!choice.function) {
    throw badRequest('is required when tool_choice.type is "function": name the tool', 'tool_choice.function')
  }
  const { name } = choice.function
  if (tools.some((tool) => tool.type === 'function' && tool.name === name)) return { type: 'function', name }
  throw badRequest(`names ${quoted(name)}, which is not among tools`, 'tool_choice.function.name')
}

function readResponseFormat(format: ChatBody['response_format']): JsonObject | undefined {
  if (!format) return undefined
  if (format.type === 'json_schema' && !format.json_schema) {
    throw badRequest('is required when response_format.type is "json_schema"', 'response_format.json_schema')
  }
  if (format.type === 'grammar' && format.grammar === undefined) {
    throw badRequest('is required when response_format.type is "grammar"', 'response_format.grammar')
  }
  return format
}

/** Fields that the neutral request holds, or that each egress carries or drops by name itself. */
const READ: ReadonlySet<string> = new Set([...Object.keys(chatBody.properties), ...GATEWAY_FIELDS])

/** Fields of a chat body that only chat completions can carry. Null, an empty list and `store: false` count as absent. */
function ownFieldsOf(body: JsonObject): string[] | undefined {
  let names: string[] | undefined
  for (const name in body) {
    if (READ.has(name) || asksNothing(name, body[name])) continue
    names ??= []
    names.push(name)
  }
  return names
}

const asksNothing = (name: string, value: unknown): boolean =>
  value === undefined ||
  value === null ||
  (name === 'store' && value === false) ||
  (Array.isArray(value) && value.length === 0)
