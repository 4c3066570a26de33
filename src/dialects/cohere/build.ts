import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isObject } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { DialectCall } from '../dialect.ts'
import { dropInto } from '../dropped.ts'
import { GATEWAY_FIELDS } from '../gateway-fields.ts'
import { writeMessages } from './build-messages.ts'
import { writeSampling } from './build-sampling.ts'
import { takesReasoning, writeThinking } from './build-thinking.ts'
import { writeTools } from './build-tools.ts'
import type { LeaveOut } from './names.ts'

/** Parameters of Cohere alone, which a caller of the chat dialect may set: they travel as they came. */
const OWN = ['citation_options', 'safety_mode', 'strict_tools', 'priority', 'raw_prompting'] as const

/** Fields of a chat body that are carried here, or that speak to the gateway alone. Any other is named. */
const CARRIED: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  ...OWN,
  'documents',
  'thinking',
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'n',
  'temperature',
  'top_p',
  'top_k',
  'top_a',
  'min_p',
  'frequency_penalty',
  'presence_penalty',
  'repetition_penalty',
  'seed',
  'stop',
  'logit_bias',
  'logprobs',
  'top_logprobs',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'response_format',
  'reasoning',
  'reasoning_effort',
  'include_reasoning',
  'modalities',
  'service_tier',
  'user',
  'metadata',
  'usage',
])

/**
 * The call of Cohere's v2 Chat API, from the neutral request. Never changes `request`.
 *
 * | neutral | Cohere's |
 * |---|---|
 * | messages | `build-messages.ts`; files of text become `documents` |
 * | tools, tool choice | `build-tools.ts`: `tools`, `tool_choice`, `strict_tools` |
 * | response format json_object, json_schema | `response_format` json_object, with the schema |
 * | reasoning | `build-thinking.ts`: `thinking` |
 * | sampling | `build-sampling.ts`: `temperature`, `p`, `k`, `seed`, penalties, `stop_sequences`, `logprobs` |
 * | bound on output | `max_tokens` |
 *
 * What has no place is named in `dropped`.
 */
export function buildCohere(request: InferenceRequest, attempt: Attempt): DialectCall {
  const dropped: string[] = []
  const leaveOut: LeaveOut = (name) => {
    dropInto(dropped, name)
  }
  const own: JsonObject = request.dialect === 'chat' ? request.body : {}
  const { messages, documents } = writeMessages(request.messages, takesReasoning(attempt), leaveOut)
  const all = [...documents, ...(Array.isArray(own.documents) ? own.documents : [])]
  const body = defined({
    model: attempt.endpoint.upstreamId,
    stream: request.stream,
    messages,
    ...writeTools(request, leaveOut),
    documents: all.length > 0 ? all : undefined,
    response_format: writeFormat(request, all.length > 0, leaveOut),
    max_tokens: attempt.outputBound ?? request.maxOutputTokens,
    thinking: writeThinking(request, attempt, isObject(own.thinking) ? own.thinking : undefined, leaveOut),
    ...writeSampling(request, attempt, leaveOut),
    ...ownOf(own),
  })
  leaveOutRest(request, leaveOut)
  return { path: '/chat', headers: {}, body, dropped }
}

const ownOf = (body: JsonObject): JsonObject =>
  Object.fromEntries(OWN.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])))

/** Cohere takes no format beside tools or documents: those are kept. The schema's name and strictness it has no word for, and is strict. */
function writeFormat(
  { responseFormat, tools }: InferenceRequest,
  hasDocuments: boolean,
  leaveOut: LeaveOut,
): JsonObject | undefined {
  const type = responseFormat?.type
  if (responseFormat === undefined || type === 'text') return undefined
  if ((type !== 'json_object' && type !== 'json_schema') || tools.length > 0 || hasDocuments) {
    leaveOut('response_format')
    return undefined
  }
  const named = isObject(responseFormat.json_schema) ? responseFormat.json_schema : {}
  const schema = type === 'json_schema' && isObject(named.schema) ? named.schema : undefined
  return defined({ type: 'json_object', json_schema: schema })
}

function leaveOutRest(request: InferenceRequest, leaveOut: LeaveOut): void {
  const { dialect, body, user, metadata, serviceTier, choiceCount, modalities } = request
  if (user !== undefined) leaveOut('user')
  if (metadata !== undefined && Object.keys(metadata).length > 0) leaveOut('metadata')
  if (serviceTier !== undefined && serviceTier !== 'auto' && serviceTier !== 'default') {
    leaveOut('service_tier')
  }
  if (choiceCount !== undefined && choiceCount > 1) leaveOut('n')
  if (modalities?.some((name) => name !== 'text')) leaveOut('modalities')
  if (dialect !== 'chat') return
  for (const [name, value] of Object.entries(body)) {
    if (value !== null && value !== undefined && !CARRIED.has(name)) leaveOut(name)
  }
}
