import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { mismatch } from '../mismatch.ts'
import { defined, quoted } from '../values.ts'
import { readMessages } from './parse-messages.ts'
import { parametersOf, readSampling } from './parse-parameters.ts'
import { checkPlugins } from './parse-plugins.ts'
import { readReasoning } from './parse-reasoning.ts'
import { readResponseFormat, readToolChoice, readTools } from './parse-tools.ts'
import { readPreferences } from './preferences.ts'
import { type ChatBody, chatBody } from './schema.ts'

/** Compiled at the first request: the start does not pay for it. */
let compiled: TypeCheck<typeof chatBody> | undefined

/**
 * Reads the body of POST /chat/completions. Throws a `GatewayError` 400 that names the field by its path, what is
 * allowed and, where it is short, what came. `request.body` is the very body, unknown fields included; `models`
 * is empty when the caller named none.
 */
export function parseChat(body: JsonObject, headers: Headers): InferenceRequest {
  compiled ??= TypeCompiler.Compile(chatBody)
  if (!compiled.Check(body)) throw mismatch(compiled, body)
  const stream = body.stream === true
  checkMetadata(body.metadata)
  if (body.plugins) checkPlugins(body.plugins)
  return defined<InferenceRequest>({
    apiType: 'completions',
    dialect: 'chat',
    body,
    models: modelsOf(body),
    stream,
    messages: readMessages(body.messages),
    tools: readTools(body.tools),
    toolChoice: readToolChoice(body.tool_choice),
    parallelToolCalls: body.parallel_tool_calls ?? undefined,
    responseFormat: readResponseFormat(body.response_format),
    reasoning: readReasoning(body),
    sampling: readSampling(body),
    maxOutputTokens: body.max_completion_tokens ?? body.max_tokens ?? undefined,
    choiceCount: body.n ?? undefined,
    modalities: body.modalities ?? undefined,
    serviceTier: body.service_tier ?? undefined,
    preferences: readPreferences(body.provider, body.route),
    sessionId: sessionOf(body, headers),
    user: body.user || undefined,
    metadata: body.metadata ?? undefined,
    trace: body.trace ?? undefined,
    echoUpstreamBody: stream && body.debug?.echo_upstream_body === true,
    parameters: parametersOf(body),
  })
}

/** `model` first, then the fallbacks, each once. */
const modelsOf = ({ model, models }: ChatBody): string[] => {
  if (!models) return model ? [model] : []
  return [...new Set(model ? [model, ...models] : models)]
}

const MAX_SESSION_ID = 256

/** The body wins over the header, which is then not looked at. */
function sessionOf(body: ChatBody, headers: Headers): string | undefined {
  if (body.session_id) return body.session_id
  const fromHeader = headers.get('x-session-id')
  if (fromHeader !== null && fromHeader.length > MAX_SESSION_ID) {
    throw badRequest(
      `The header x-session-id must have at most ${MAX_SESSION_ID} characters, not ${fromHeader.length}`,
    )
  }
  return fromHeader || undefined
}

const MAX_METADATA_PAIRS = 16
const MAX_METADATA_KEY = 64

function checkMetadata(metadata: ChatBody['metadata']): void {
  if (!metadata) return
  const pairs = Object.entries(metadata)
  if (pairs.length > MAX_METADATA_PAIRS) {
    throw badRequest(`must have at most ${MAX_METADATA_PAIRS} pairs, not ${pairs.length}`, 'metadata')
  }
  for (const [key, value] of pairs) {
    if (key.length > MAX_METADATA_KEY) {
      throw badRequest(
        `keys must have at most ${MAX_METADATA_KEY} characters; one has ${key.length}`,
        'metadata',
      )
    }
    if (/[[\]]/.test(key)) {
      throw badRequest(`keys must not have square brackets; ${quoted(key)} has`, 'metadata')
    }
    if (typeof value !== 'string') throw badRequest('values must be strings', `metadata.${key}`)
  }
}
