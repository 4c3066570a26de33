import type { FinishReason, JsonObject } from '../../core/events.ts'
import { replyIdOf } from '../../core/ids.ts'
import { asList, defined, fieldsOf, isObject, isString, restOf } from '../../core/json.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing, PublicError, ReplyContext } from '../../core/result.ts'
import { completionTokens, promptTokens } from '../../core/usage.ts'
import { words } from '../../core/words.ts'
import { errorTypeOfStatus, openaiTier } from '../finish.ts'
import { nativeFieldsOf, viewToolCost, viewToolUse } from '../usage.ts'
import type { ItemStatus } from './write-item.ts'

/** api-surface §20.1: the response object, which repeats the request's settings. */

/** `in_progress → completed | incomplete | failed` are written here; other statuses are for stored responses. */
type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

interface Shown {
  status: ResponseStatus
  output: JsonObject[]
  closing: Closing | null
  error?: JsonObject
  /** `incomplete_details.reason` */
  reason?: string
  /** The response object of a Responses provider; null for providers of other dialects. */
  native: JsonObject | null
}

/** Fields that the gateway writes itself or takes from the request, whatever a provider sends. */
const OWN = new Set(
  words(`
  id object created_at completed_at status model provider output output_text usage error
  incomplete_details background store previous_response_id metadata user instructions tools
  service_metadata openrouter_metadata error_type
`),
)

/** Written twice per stream, so it is one literal: fields of the request, else of a Responses provider, else defaults. */
export function viewResponse(reply: ReplyContext, shown: Shown): JsonObject {
  const { body } = reply.request
  const { status, output, closing, native } = shown
  const reported = native ?? {}
  return {
    id: replyIdOf(reply.generationId, 'resp_'),
    object: 'response',
    created_at: reply.created,
    status,
    completed_at: status === 'completed' ? (closing?.completed ?? reply.created) : null,
    model: reply.model,
    provider: reply.providerName,
    access_programs: null,
    ...(native === null ? undefined : restOf(native, OWN)),
    background: body.background ?? false,
    error: shown.error ?? null,
    frequency_penalty: body.frequency_penalty ?? reported.frequency_penalty ?? null,
    incomplete_details: viewIncomplete(shown),
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? reported.max_output_tokens ?? null,
    max_tool_calls: body.max_tool_calls ?? reported.max_tool_calls ?? null,
    metadata: body.metadata ?? {},
    output,
    output_text: outputText(output),
    parallel_tool_calls: body.parallel_tool_calls ?? reported.parallel_tool_calls ?? true,
    presence_penalty: body.presence_penalty ?? reported.presence_penalty ?? null,
    previous_response_id: body.previous_response_id ?? null,
    prompt: body.prompt ?? reported.prompt ?? null,
    prompt_cache_key: body.prompt_cache_key ?? reported.prompt_cache_key ?? null,
    reasoning: viewReasoning(body.reasoning, reported.reasoning),
    safety_identifier: body.safety_identifier ?? reported.safety_identifier ?? null,
    service_tier: openaiTier(closing?.serviceTier ?? body.service_tier ?? reported.service_tier ?? 'auto'),
    store: body.store ?? false,
    temperature: body.temperature ?? reported.temperature ?? null,
    text: isObject(body.text) ? { format: TEXT, ...body.text } : viewText(reported.text),
    tool_choice: body.tool_choice ?? reported.tool_choice ?? 'auto',
    tools: viewTools(body.tools),
    top_logprobs: body.top_logprobs ?? reported.top_logprobs ?? 0,
    top_p: body.top_p ?? reported.top_p ?? null,
    truncation: body.truncation ?? reported.truncation ?? 'disabled',
    usage: closing ? viewUsage(closing) : null,
    ...(isString(body.user) ? { user: body.user } : undefined),
    ...(closing?.serviceMetadata
      ? { service_metadata: closing.serviceMetadata, openrouter_metadata: closing.serviceMetadata }
      : undefined),
  }
}

const TEXT = { type: 'text' }

/** OpenAI sends a null description for a schema without one, which its own types do not have. */
function viewText(reported: unknown): unknown {
  if (!isObject(reported)) return { format: TEXT }
  if (!isObject(reported.format) || reported.format.description !== null) return reported
  const { description: _, ...format } = reported.format
  return { ...reported, format }
}

const viewReasoning = (asked: unknown, reported: unknown): JsonObject => ({
  effort: null,
  summary: null,
  ...fieldsOf(reported),
  ...fieldsOf(asked),
})

function viewIncomplete({ status, reason, native }: Shown): JsonObject | null {
  if (status !== 'incomplete') return null
  return isObject(native?.incomplete_details)
    ? native.incomplete_details
    : { reason: reason ?? 'max_output_tokens' }
}

/** Clients parse the parameters of a function as required. */
const viewTools = (tools: unknown): unknown[] =>
  Array.isArray(tools)
    ? tools.map((tool: unknown) =>
        isObject(tool) && tool.type === 'function'
          ? { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? null }
          : withoutSecrets(tool),
      )
    : []

/** The credentials of an MCP server are for the provider that calls it. */
const withoutSecrets = (tool: unknown): unknown =>
  isObject(tool) && tool.type === 'mcp' ? restOf(tool, MCP_SECRETS) : tool
const MCP_SECRETS = new Set(['authorization', 'headers'])

/** The visible text of all messages. */
const outputText = (output: readonly JsonObject[]): string =>
  output
    .flatMap(({ type, content }) => (type === 'message' ? asList(content) : []))
    .map((part: unknown) => (isObject(part) && part.type === 'output_text' ? String(part.text ?? '') : ''))
    .join('')

/** Usage as OpenAI counts it: inclusive, the parts in the details; `cost` in USD with at most 9 decimals. */
export function viewUsage(closing: Closing): JsonObject {
  const { usage } = closing
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  return defined({
    ...nativeFieldsOf(usage, 'responses'),
    input_tokens: input,
    input_tokens_details: defined({
      cached_tokens: usage.cacheReadTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      audio_tokens: usage.audioInputTokens || undefined,
      image_tokens: usage.imageInputTokens || undefined,
    }),
    output_tokens: output,
    output_tokens_details: defined({
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.audioOutputTokens || undefined,
      image_tokens: usage.imageOutputTokens || undefined,
    }),
    total_tokens: input + output,
    cost: usdOf(closing.costNanoUsd),
    is_byok: closing.isByok,
    cost_details: {
      upstream_inference_cost: closing.isByok
        ? usdOf(closing.promptCostNanoUsd + closing.completionCostNanoUsd)
        : null,
      upstream_inference_input_cost: usdOf(closing.promptCostNanoUsd),
      upstream_inference_output_cost: usdOf(closing.completionCostNanoUsd),
      ...viewToolCost(closing),
    },
    server_tool_use_details: viewToolUse(closing),
  })
}

/** How a response ended: its status, and that of the items that were still open. */
export interface Ending {
  status: Exclude<ResponseStatus, 'in_progress'>
  itemStatus: ItemStatus
  reason?: string
  error?: JsonObject
}

const ENDINGS: Readonly<Record<FinishReason, Ending>> = {
  stop: { status: 'completed', itemStatus: 'completed' },
  tool_calls: { status: 'completed', itemStatus: 'completed' },
  length: { status: 'incomplete', itemStatus: 'incomplete', reason: 'max_output_tokens' },
  content_filter: { status: 'incomplete', itemStatus: 'incomplete', reason: 'content_filter' },
  error: {
    status: 'failed',
    itemStatus: 'incomplete',
    error: { code: 'server_error', message: 'The provider ended the answer with an error' },
  },
}

export const endingOf = ({ finishes }: Closing): Ending =>
  ENDINGS[finishes.find(({ choice }) => choice === 0)?.reason ?? 'stop']

/** The `error` of a failed response, in the codes of this dialect. */
export function viewError({ status, message, metadata }: PublicError): JsonObject {
  const code = status === 429 ? 'rate_limit_exceeded' : status < 500 ? 'invalid_prompt' : 'server_error'
  return { code, message, ...(metadata ? { metadata } : {}) }
}

export function errorTypeOf({ status, metadata }: PublicError): unknown {
  return metadata?.error_type ?? errorTypeOfStatus(status)
}
