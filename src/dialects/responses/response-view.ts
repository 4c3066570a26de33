import type { JsonObject } from '../../core/events.ts'
import { replyIdOf } from '../../core/ids.ts'
import { usdOf } from '../../core/money.ts'
import type { Closing, ReplyContext } from '../../core/result.ts'
import { completionTokens, promptTokens } from '../../core/usage.ts'
import { defined, isObject } from '../values.ts'

/** api-surface §20.1: the response object, which repeats what was asked. */

/** `in_progress → completed | incomplete | failed` are what a writer tells; the others are for stored responses. */
export type ResponseStatus = 'in_progress' | 'completed' | 'incomplete' | 'failed'

export interface Shown {
  status: ResponseStatus
  output: JsonObject[]
  closing: Closing | null
  error?: JsonObject
  /** `incomplete_details.reason` */
  reason?: string
  /** What a provider of this dialect said of its response. */
  native: JsonObject
}

/** What a request that does not say otherwise means. */
const DEFAULTS: JsonObject = {
  background: false,
  frequency_penalty: null,
  instructions: null,
  max_output_tokens: null,
  max_tool_calls: null,
  metadata: {},
  parallel_tool_calls: true,
  presence_penalty: null,
  previous_response_id: null,
  prompt: null,
  prompt_cache_key: null,
  reasoning: { effort: null, summary: null },
  safety_identifier: null,
  service_tier: 'auto',
  store: false,
  temperature: null,
  text: { format: { type: 'text' } },
  tool_choice: 'auto',
  tools: [],
  top_logprobs: 0,
  top_p: null,
  truncation: 'disabled',
  user: null,
}

/** Fields that are the gateway's, whatever a provider says of them. */
const OWN = [
  'background',
  'store',
  'previous_response_id',
  'metadata',
  'user',
  'instructions',
  'tools',
  'service_metadata',
  'openrouter_metadata',
  'error_type',
] as const

export function viewResponse(reply: ReplyContext, shown: Shown): JsonObject {
  const { body } = reply.request
  const { status, output, closing, native } = shown
  const defaults = {
    ...DEFAULTS,
    ...native,
    ...Object.fromEntries(OWN.map((name) => [name, DEFAULTS[name]])),
  }
  const asked = Object.keys(DEFAULTS)
    .filter((name) => body[name] !== undefined && body[name] !== null)
    .map((name) => [name, body[name]])
  const isOver = status !== 'in_progress'
  const head = {
    id: replyIdOf(reply.generationId, 'resp_'),
    object: 'response',
    created_at: reply.created,
    status,
  }
  return defined({
    ...head,
    ...defaults,
    ...Object.fromEntries(asked),
    ...head,
    completed_at: isOver && status !== 'failed' ? (closing?.completed ?? reply.created) : null,
    model: reply.model,
    provider: reply.providerName,
    reasoning: viewReasoning(body.reasoning, native.reasoning),
    text: isObject(body.text) ? { format: { type: 'text' }, ...body.text } : defaults.text,
    tools: viewTools(body.tools),
    service_tier: closing?.serviceTier ?? body.service_tier ?? native.service_tier ?? 'auto',
    error: shown.error ?? null,
    incomplete_details: viewIncomplete(shown),
    output,
    output_text: outputText(output),
    usage: closing ? viewUsage(closing) : null,
    ...(closing?.serviceMetadata
      ? { service_metadata: closing.serviceMetadata, openrouter_metadata: closing.serviceMetadata }
      : {}),
  })
}

const viewReasoning = (asked: unknown, told: unknown): JsonObject => ({
  effort: null,
  summary: null,
  ...(isObject(told) ? told : {}),
  ...(isObject(asked) ? asked : {}),
})

function viewIncomplete({ status, reason, native }: Shown): JsonObject | null {
  if (status !== 'incomplete') return null
  return isObject(native.incomplete_details)
    ? native.incomplete_details
    : { reason: reason ?? 'max_output_tokens' }
}

/** Clients parse the parameters of a function as required. */
const viewTools = (tools: unknown): unknown[] =>
  Array.isArray(tools)
    ? tools.map((tool: unknown) =>
        isObject(tool) && tool.type === 'function'
          ? { ...tool, parameters: tool.parameters ?? null, strict: tool.strict ?? null }
          : tool,
      )
    : []

/** The visible text of all messages. */
const outputText = (output: readonly JsonObject[]): string =>
  output
    .flatMap(({ type, content }) => (type === 'message' && Array.isArray(content) ? content : []))
    .map((part: unknown) => (isObject(part) && part.type === 'output_text' ? String(part.text ?? '') : ''))
    .join('')

/** Usage as OpenAI counts it: inclusive, the parts in the details; `cost` in USD with at most 9 decimals. */
function viewUsage(closing: Closing): JsonObject {
  const { usage } = closing
  const input = promptTokens(usage)
  const output = completionTokens(usage)
  return defined({
    ...(usage.native?.dialect === 'responses' ? usage.native.fields : {}),
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
    },
    server_tool_use_details:
      usage.webSearchRequests === undefined ? undefined : { web_search_requests: usage.webSearchRequests },
  })
}
