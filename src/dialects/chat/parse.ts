import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import type { JsonObject } from '../../core/events.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { checkMetadata, modelsOf, sessionOf } from '../caller-fields.ts'
import { checkPlugins } from '../check-plugins.ts'
import { refuseResumption } from '../failed-stream.ts'
import { mismatch } from '../mismatch.ts'
import { readPreferences } from '../preferences.ts'
import { ownFieldsOf } from './own-fields.ts'
import { readMessages } from './parse-messages.ts'
import { parametersOf, readSampling } from './parse-parameters.ts'
import { readReasoning } from './parse-reasoning.ts'
import { readResponseFormat, readToolChoice, readTools } from './parse-tools.ts'
import { chatBody } from './schema.ts'

/** Compiled at the first request: the start does not pay for it. */
let compiled: TypeCheck<typeof chatBody> | undefined

/**
 * Reads the body of POST /chat/completions. Throws a `GatewayError` 400 that names the field by its path, what is
 * allowed and, where it is short, what came. `request.body` is the very body, unknown fields included; `models`
 * is empty when the caller named none.
 */
export function parseChat(body: JsonObject, headers: Headers): InferenceRequest {
  refuseResumption(headers)
  compiled ??= TypeCompiler.Compile(chatBody)
  if (!compiled.Check(body)) throw mismatch(compiled, body)
  const stream = body.stream === true
  checkMetadata(body.metadata)
  if (body.plugins) checkPlugins(body.plugins)
  const tools = readTools(body.tools)
  return {
    apiType: 'completions',
    dialect: 'chat',
    body,
    models: modelsOf(body),
    stream,
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
    preferences: readPreferences(body.provider, body.route),
    sessionId: sessionOf(body.session_id, headers),
    user: body.user || undefined,
    metadata: body.metadata ?? undefined,
    trace: body.trace ?? undefined,
    echoUpstreamBody: stream && body.debug?.echo_upstream_body === true,
    parameters: parametersOf(body),
    ownFields: ownFieldsOf(body),
  }
}
