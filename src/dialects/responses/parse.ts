import { badRequest, type GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, restOf } from '../../core/json.ts'
import type { Effort, InferenceRequest, Message, Reasoning, Sampling } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { wantsErrorInEvent, wantsKnownEvents } from '../../http/compatibility.ts'
import { checkMetadata, readConversationRouting } from '../caller-fields.ts'
import { EFFORTS } from '../caller-schema.ts'
import { bodyCheck, quoted } from '../mismatch.ts'
import { checkXSearch } from '../plugin-schema.ts'
import { type Conversation, readItems } from './parse-items.ts'
import { readTools } from './parse-tools.ts'
import { type ResponsesBody, responsesBody } from './schema.ts'

const checkBody = bodyCheck(responsesBody)

/**
 * Reads the body of POST /responses. Throws a `GatewayError` 400 that names the field by its path, what is allowed and, if it is short, the value. `request.body` is the body itself, unknown fields included; `models` is empty
 * when the caller named none.
 */
export function parseResponses(input: JsonObject, headers: Headers): InferenceRequest {
  const body = checkBody(input)
  if (body.conversation) throw noConversations()
  checkMetadata(body.metadata)
  const routing = readConversationRouting('responses', 'responses', body, headers)
  if (body.x_search_filter) checkXSearch(body.x_search_filter, 'x_search_filter')
  const { messages, effort } = readInput(body)
  const ownFields = ownFieldsOf(body)
  return defined<InferenceRequest>({
    ...routing,
    messages,
    ...readTools(body),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    responseFormat: readFormat(body),
    reasoning: readReasoning(body, effort),
    sampling: readSampling(body),
    maxOutputTokens: body.max_output_tokens ?? undefined,
    modalities: body.modalities ?? undefined,
    serviceTier: body.service_tier ?? undefined,
    metadata: body.metadata ?? undefined,
    echoUpstreamBody: routing.stream && body.debug?.echo_upstream_body === true,
    parameters: parametersOf(body),
    ownFields: ownFields.length > 0 ? ownFields : undefined,
    strictEvents: wantsKnownEvents(headers) ? true : undefined,
    errorInEvent: wantsErrorInEvent(headers) ? true : undefined,
  })
}

/** An answer without its conversation would be about something else. */
const noConversations = (): GatewayError =>
  badRequest(
    'no conversations are held here: send all items, or previous_response_id of a response that was stored',
    'conversation',
  )

function readInput(body: ResponsesBody): Conversation {
  const { input, instructions, prompt, previous_response_id } = body
  const first: Message[] = instructions ? [{ role: 'system', content: instructions }] : []
  const goesOn = Boolean(previous_response_id)
  if (typeof input === 'string') return { messages: [...first, { role: 'user', content: input }] }
  const read = readItems(input ?? [], goesOn)
  const messages = [...first, ...read.messages]
  if (messages.length === 0 && !prompt && !goesOn) {
    throw badRequest('is required: a text, or a list of items that is not empty', 'input')
  }
  return { ...read, messages }
}

const TOKEN_LOGPROBS = 'message.output_text.logprobs'

function readSampling(body: ResponsesBody): Sampling {
  const wantsLogprobs = body.include?.includes(TOKEN_LOGPROBS) || (body.top_logprobs ?? 0) > 0
  return defined({
    temperature: body.temperature ?? undefined,
    topP: body.top_p ?? undefined,
    topK: body.top_k ?? undefined,
    frequencyPenalty: body.frequency_penalty ?? undefined,
    presencePenalty: body.presence_penalty ?? undefined,
    logprobs: wantsLogprobs ? true : undefined,
    topLogprobs: wantsLogprobs ? (body.top_logprobs ?? undefined) : undefined,
  })
}

const REASONING = new Set(['effort', 'max_tokens', 'enabled', 'exclude', 'summary'])

/** `effort` is what an item of the input changed it to: it wins over the body's. */
function readReasoning({ reasoning }: ResponsesBody, effort: string | undefined): Reasoning | undefined {
  const changed = effort === undefined ? undefined : effortOf(effort)
  const read = defined<Reasoning>({
    effort: changed ?? reasoning?.effort ?? undefined,
    maxTokens: reasoning?.max_tokens ?? undefined,
    enabled: reasoning?.enabled ?? undefined,
    exclude: reasoning?.exclude ?? undefined,
    summary: reasoning?.summary ?? undefined,
    extra: reasoning ? restOf(reasoning, REASONING) : undefined,
  })
  return Object.keys(read).length === 0 ? undefined : read
}

function effortOf(effort: string): Effort {
  const known = EFFORTS.find((name) => name === effort)
  if (known) return known
  throw badRequest(
    `reasoning.effort of a configuration_update must be one of ${EFFORTS.join(', ')}, not ${quoted(effort)}`,
    'input',
  )
}

/** `text.format` in the neutral form, which nests the schema with its name. */
function readFormat({ text }: ResponsesBody): JsonObject | undefined {
  const format = text?.format
  if (!format || format.type === 'text') return undefined
  if (format.type === 'json_object') return { type: 'json_object' }
  const { type, description, strict, ...schema } = format
  const more = { description: description ?? undefined, strict: strict ?? undefined }
  return { type, json_schema: defined({ ...schema, ...more }) }
}

/** The parameters that the caller set, by the catalogue's names (`supported_parameters`). */
function parametersOf(body: ResponsesBody): string[] {
  const format = body.text?.format?.type
  const set: Readonly<Record<string, unknown>> = {
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    frequency_penalty: body.frequency_penalty,
    presence_penalty: body.presence_penalty,
    max_tokens: body.max_output_tokens,
    logprobs: readSampling(body).logprobs,
    top_logprobs: body.top_logprobs,
    response_format: format === 'text' ? undefined : format,
    structured_outputs: format === 'json_schema' ? format : undefined,
    tools: body.tools?.length ? body.tools : undefined,
    tool_choice: body.tool_choice,
    parallel_tool_calls: body.parallel_tool_calls,
    reasoning: body.reasoning,
    verbosity: body.text?.verbosity,
  }
  return Object.keys(set).filter((name) => set[name] !== undefined && set[name] !== null)
}

/** Fields of the body with a neutral form, and those that ask the gateway itself. */
const CARRIED = new Set(
  words(`
  model models input instructions stream stream_options store background previous_response_id
  max_output_tokens temperature top_p top_k frequency_penalty presence_penalty top_logprobs
  parallel_tool_calls tools tool_choice modalities reasoning service_tier metadata user cache_control
  provider route session_id trace debug stop_server_tools_when
`),
)

/** Fields that the gateway itself applies, whatever the provider's dialect. */
const INCLUDED: ReadonlySet<string> = new Set(['reasoning.encrypted_content', TOKEN_LOGPROBS])

/** Fields that only a provider of this dialect accepts, by name. */
function ownFieldsOf(body: JsonObject & ResponsesBody): string[] {
  const { include, truncation, text } = body
  const names = Object.keys(body).filter(
    (name) => body[name] !== null && body[name] !== undefined && !CARRIED.has(name) && !READ_APART.has(name),
  )
  if (truncation === 'auto') names.push('truncation')
  for (const name of include ?? []) if (!INCLUDED.has(name)) names.push(`include.${name}`)
  for (const name of Object.keys(text ?? {})) if (name !== 'format') names.push(`text.${name}`)
  return names
}

const READ_APART = new Set(['include', 'truncation', 'text', 'plugins'])
