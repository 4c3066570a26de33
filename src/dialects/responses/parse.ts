import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined } from '../../core/json.ts'
import type { InferenceRequest, Message } from '../../core/request.ts'
import { wantsKnownEvents } from '../../http/compatibility.ts'
import { checkMetadata, modelsOf, sessionOf } from '../caller-fields.ts'
import { checkPlugins } from '../check-plugins.ts'
import { mismatch } from '../mismatch.ts'
import { readPreferences } from '../preferences.ts'
import { type Conversation, readItems } from './parse-items.ts'
import { ownFieldsOf, parametersOf, readFormat, readReasoning, readSampling } from './parse-parameters.ts'
import { readTools } from './parse-tools.ts'
import { type ResponsesBody, responsesBody } from './schema.ts'

/** Compiled at the first request: the start does not pay for it. */
let compiled: TypeCheck<typeof responsesBody> | undefined

/**
 * Reads the body of POST /responses. Throws a `GatewayError` 400 that names the field by its path, what is allowed
 * and, where it is short, what came. `request.body` is the very body, unknown fields included; `models` is empty
 * when the caller named none.
 */
export function parseResponses(body: JsonObject, headers: Headers): InferenceRequest {
  compiled ??= TypeCompiler.Compile(responsesBody)
  if (!compiled.Check(body)) throw mismatch(compiled, body)
  const stream = body.stream === true
  checkMetadata(body.metadata)
  if (body.plugins) checkPlugins(body.plugins)
  checkSearchFilter(body)
  const { messages, effort } = readInput(body)
  const ownFields = ownFieldsOf(body)
  return defined<InferenceRequest>({
    apiType: 'responses',
    dialect: 'responses',
    body,
    models: modelsOf(body),
    stream,
    messages,
    ...readTools(body),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    responseFormat: readFormat(body),
    reasoning: readReasoning(body, effort),
    sampling: readSampling(body),
    maxOutputTokens: body.max_output_tokens ?? undefined,
    modalities: body.modalities ?? undefined,
    serviceTier: body.service_tier ?? undefined,
    preferences: readPreferences(body.provider, body.route),
    sessionId: sessionOf(body.session_id, headers),
    user: body.user || undefined,
    metadata: body.metadata ?? undefined,
    trace: body.trace ?? undefined,
    echoUpstreamBody: stream && body.debug?.echo_upstream_body === true,
    parameters: parametersOf(body),
    ownFields: ownFields.length > 0 ? ownFields : undefined,
    strictEvents: wantsKnownEvents(headers) ? true : undefined,
  })
}

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

function checkSearchFilter({ x_search_filter }: ResponsesBody): void {
  if (x_search_filter?.allowed_x_handles?.length && x_search_filter.excluded_x_handles?.length) {
    throw badRequest(
      'allowed_x_handles and excluded_x_handles exclude each other: send one of them',
      'x_search_filter',
    )
  }
}
