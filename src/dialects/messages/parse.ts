import { badRequest, GatewayError } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, restOf } from '../../core/json.ts'
import type { InferenceRequest, Reasoning } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { readConversationRouting } from '../caller-fields.ts'
import { bodyCheck } from '../mismatch.ts'
import { createKeep, type Keep, NOT_SENT } from './fields.ts'
import { readMessages } from './parse-messages.ts'
import { readFormat, readParallel, readToolChoice, readTools } from './parse-tools.ts'
import { type MessagesBody, messagesBody } from './schema.ts'

const checkBody = bodyCheck(messagesBody)

/**
 * Reads the body of POST /messages. Throws a `GatewayError` 400 that names the field by its path, what is allowed and, if it is short, the value. `request.body` is the body itself, unknown fields included; `models` is empty when
 * the caller named none.
 */
export function parseMessages(input: JsonObject, headers: Headers): InferenceRequest {
  if (input['thread']) throw noThreads()
  const body = checkBody(input)
  const routing = readConversationRouting('messages', 'messages', body, headers)
  const keep = createKeep()
  const stop = body.stop_sequences
  const request = defined<InferenceRequest>({
    ...routing,
    models: withFallbacks(routing.models, body),
    messages: readMessages(body, keep),
    tools: readTools(body, keep),
    toolChoice: readToolChoice(body, keep),
    parallelToolCalls: readParallel(body),
    responseFormat: readFormat(body),
    reasoning: readReasoning(body, headers, keep),
    sampling: defined({
      temperature: body.temperature ?? undefined,
      topP: body.top_p ?? undefined,
      topK: body.top_k ?? undefined,
      stop: stop && stop.length > 0 ? stop : undefined,
    }),
    maxOutputTokens: body.max_tokens ?? undefined,
    serviceTier: serviceTierOf(body),
    user: routing.user ?? (body.metadata?.user_id || undefined),
    echoUpstreamBody: false,
    parameters: parametersOf(body),
    headers: headersOf(headers, keep),
  })
  keepRest(body, keep)
  return keep.names.length === 0 ? request : { ...request, ownFields: keep.names }
}

/**
 * A thread is a conversation that Anthropic's servers hold, found by the id of its last reply. Here that id is the
 * gateway's, and the next request may go elsewhere. After this code the tool runners of Anthropic's SDKs, which ask for a
 * thread by default, send the whole conversation instead.
 */
const noThreads = (): GatewayError =>
  new GatewayError(400, 'thread: no conversations are held here; send all messages, without `thread`', {
    metadata: {
      error_type: 'invalid_request',
      details: { error_code: 'thread_unsupported_request', unsupported: [] },
    },
  })

/** `model`, then `models`, then `fallbacks`: three ways to name an order, each model once. */
const withFallbacks = (models: string[], { fallbacks }: MessagesBody): string[] =>
  Array.isArray(fallbacks) ? [...new Set([...models, ...fallbacks.map(({ model }) => model)])] : models

/** Anthropic's `standard_only` is OpenAI's `default`. */
const serviceTierOf = ({ service_tier }: MessagesBody): string | undefined =>
  service_tier === 'standard_only' ? 'default' : (service_tier ?? undefined)

/** The parameters that the caller set, by the catalogue's names (`supported_parameters`). */
function parametersOf(body: MessagesBody): string[] {
  const set: Readonly<Record<string, unknown>> = {
    temperature: body.temperature,
    top_p: body.top_p,
    top_k: body.top_k,
    max_tokens: body.max_tokens,
    stop: body.stop_sequences?.length ? body.stop_sequences : undefined,
    tools: body.tools?.length ? body.tools : undefined,
    tool_choice: body.tool_choice,
    reasoning: body.thinking?.type === 'disabled' ? undefined : (body.thinking ?? body.output_config?.effort),
    structured_outputs: body.output_config?.format ?? body.output_format,
  }
  return Object.keys(set).filter((name) => set[name] !== undefined && set[name] !== null)
}

const MAX_BETA = 2_000

/** The betas that a caller opts in to are its own dialect's. */
function headersOf(headers: Headers, keep: Keep): InferenceRequest['headers'] {
  const beta = headers.get('anthropic-beta')?.trim()
  if (!beta) return undefined
  if (beta.length > MAX_BETA || !/^[\x20-\x7e]*$/.test(beta)) {
    throw badRequest(`The header anthropic-beta must be a list of names of at most ${MAX_BETA} characters`)
  }
  keep('anthropic-beta')
  return { 'anthropic-beta': beta }
}

/** Fields of the body with a neutral form, and `mcp_servers`, which only providers of this dialect get. */
const CARRIED = new Set(
  words(`
  model messages system tools tool_choice thinking output_config output_format max_tokens stop_sequences
  stream temperature top_p top_k metadata service_tier cache_control mcp_servers
`),
)

/** Names what has no neutral form: other dialects cannot carry it. */
function keepRest(body: JsonObject & MessagesBody, keep: Keep): void {
  for (const [name, value] of Object.entries(body)) {
    if (value === null || CARRIED.has(name) || NOT_SENT.has(name)) continue
    keep(name)
  }
  if (body.fallbacks === 'default') keep('fallbacks')
  for (const name of Object.keys(body.metadata ?? {})) if (name !== 'user_id') keep(`metadata.${name}`)
  for (const name of Object.keys(body.output_config ?? {})) {
    if (name !== 'effort' && name !== 'format') keep(`output_config.${name}`)
  }
}

/** With this beta a budget spans the calls of tools and may be larger than one answer. */
const INTERLEAVED = /interleaved-thinking/

const THINKING = new Set(['type', 'budget_tokens', 'display'])

/**
 * | Messages | neutral |
 * |---|---|
 * | `thinking.enabled` with a budget | on, with this bound in tokens |
 * | `thinking.adaptive`, `between_tools` | on |
 * | `thinking.disabled` | off |
 * | `display: omitted` | reasoning is not shown |
 * | `display`, any other than `summarized` | shown, and named as dropped before other dialects |
 * | `output_config.effort` | effort; it does not turn thinking on |
 *
 * Throws a `GatewayError` 400 for a budget that leaves no room for an answer.
 */
function readReasoning(body: MessagesBody, headers: Headers, keep: Keep): Reasoning | undefined {
  const { thinking, output_config, max_tokens } = body
  const effort = output_config?.effort ?? undefined
  if (!thinking) return effort === undefined ? undefined : { effort }
  keep.rest(restOf(thinking, THINKING), 'thinking')
  if (thinking.type === 'disabled') return { enabled: false }
  const display = 'display' in thinking ? thinking.display : undefined
  if (display && display !== 'omitted' && display !== 'summarized') keep('thinking.display')
  const shared = defined({ effort, exclude: display === 'omitted' ? true : undefined })
  if (thinking.type !== 'enabled') {
    if (thinking.type === 'between_tools') keep('thinking.type')
    return { enabled: true, ...shared }
  }
  const { budget_tokens } = thinking
  const isInterleaved = INTERLEAVED.test(headers.get('anthropic-beta') ?? '')
  if (max_tokens && budget_tokens >= max_tokens && !isInterleaved) {
    throw badRequest(
      `must be less than max_tokens, which is ${max_tokens}, not ${budget_tokens}`,
      'thinking.budget_tokens',
    )
  }
  return { enabled: true, maxTokens: budget_tokens, ...shared }
}
