import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { modelsOf, sessionOf } from '../caller-fields.ts'
import { checkPlugins } from '../check-plugins.ts'
import { mismatch } from '../mismatch.ts'
import { readPreferences } from '../preferences.ts'
import { NOT_SENT, unservedOf } from './gateway-fields.ts'
import { createKeep, type Keep } from './keep.ts'
import { readMessages } from './parse-messages.ts'
import { readReasoning } from './parse-reasoning.ts'
import { readFormat, readParallel, readToolChoice, readTools } from './parse-tools.ts'
import { type MessagesBody, messagesBody } from './schema.ts'

/** Compiled at the first request: the start does not pay for it. */
let compiled: TypeCheck<typeof messagesBody> | undefined

/**
 * Reads the body of POST /messages. Throws a `GatewayError` 400 that names the field by its path, what is allowed
 * and, where it is short, what came. `request.body` is the very body, unknown fields included; `models` is empty when
 * the caller named none.
 */
export function parseMessages(body: JsonObject, headers: Headers): InferenceRequest {
  compiled ??= TypeCompiler.Compile(messagesBody)
  if (!compiled.Check(body)) throw mismatch(compiled, body)
  if (body.plugins) checkPlugins(body.plugins)
  const keep = createKeep()
  const stop = body.stop_sequences
  const request = defined<InferenceRequest>({
    apiType: 'messages',
    dialect: 'messages',
    body,
    models: readModels(body),
    stream: body.stream === true,
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
    preferences: readPreferences(body.provider, body.route),
    sessionId: sessionOf(body.session_id, headers),
    user: body.user || body.metadata?.user_id || undefined,
    trace: body.trace ?? undefined,
    echoUpstreamBody: false,
    parameters: parametersOf(body),
    headers: headersOf(headers, keep),
  })
  keepRest(body, keep)
  return keep.names.length === 0 ? request : { ...request, ownFields: keep.names }
}

/** `model`, then `models`, then `fallbacks`: three ways to say in what order, each model once. */
function readModels(body: MessagesBody): string[] {
  const fallbacks = Array.isArray(body.fallbacks) ? body.fallbacks.map((each) => each.model) : []
  return [...new Set([...modelsOf(body), ...fallbacks])]
}

/** Anthropic's `standard_only` is OpenAI's `default`. */
const serviceTierOf = ({ service_tier }: MessagesBody): string | undefined =>
  service_tier === 'standard_only' ? 'default' : (service_tier ?? undefined)

/** What the caller set, in the catalogue's words (`supported_parameters`). */
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

/** Fields of the body with a neutral form. */
const CARRIED = new Set([
  'model',
  'messages',
  'system',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'max_tokens',
  'stop_sequences',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'metadata',
  'service_tier',
  'cache_control',
])

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
  for (const name of unservedOf(body)) keep(name)
}
