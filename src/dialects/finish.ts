import type { ErrorType } from '../core/errors.ts'
import type { FinishReason } from '../core/events.ts'

/**
 * The words of providers of every dialect beside OpenAI's own. `eos` is Together's, `model_length` Mistral's,
 * `sensitive` and `network_error` Z.ai's, `insufficient_system_resource` DeepSeek's, `abort` vLLM's and SGLang's,
 * `guardrail_intervened` Converse's, `error_toxic` Cohere's; others are words of other dialects, which gateways let through too.
 */
const REASONS: Readonly<Record<string, FinishReason>> = {
  stop: 'stop',
  eos: 'stop',
  eos_token: 'stop',
  stop_sequence: 'stop',
  end_turn: 'stop',
  complete: 'stop',
  completed: 'stop',
  length: 'length',
  max_tokens: 'length',
  max_output_tokens: 'length',
  model_length: 'length',
  model_context_window_exceeded: 'length',
  tool_calls: 'tool_calls',
  tool_call: 'tool_calls',
  tool_use: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'content_filter',
  content_filtered: 'content_filter',
  safety: 'content_filter',
  recitation: 'content_filter',
  guardrail_intervened: 'content_filter',
  error_toxic: 'content_filter',
  prohibited_content: 'content_filter',
  refusal: 'content_filter',
  sensitive: 'content_filter',
  error: 'error',
  network_error: 'error',
  insufficient_system_resource: 'error',
  abort: 'error',
}

/**
 * OpenAI's finish reason for a provider's. `error`: the reply broke off. An unknown word is an end all
 * the same: `tool_calls` when calls were made, else `stop`.
 */
export const finishReasonOf = (native: string, hasCalls: boolean): FinishReason =>
  Object.hasOwn(REASONS, native.toLowerCase())
    ? (REASONS[native.toLowerCase()] ?? 'stop')
    : defaultReason(hasCalls)

/** For a complete reply without a finish reason. */
export const defaultReason = (hasCalls: boolean): FinishReason => (hasCalls ? 'tool_calls' : 'stop')

/** The tier that served a request, as the types of OpenAI's and Anthropic's packages know it: typed clients refuse other words. */

const OPENAI: ReadonlySet<unknown> = new Set(['auto', 'default', 'fast', 'flex', 'priority', 'scale'])
const ANTHROPIC: ReadonlySet<unknown> = new Set(['standard', 'priority', 'batch'])
/** Groq, Google and Anthropic (2026). */
const USUAL: ReadonlySet<unknown> = new Set(['default', 'standard', 'on_demand'])

export const openaiTier = (tier: unknown): unknown =>
  OPENAI.has(tier) ? tier : USUAL.has(tier) ? 'default' : null

export const anthropicTier = (tier: unknown): unknown =>
  ANTHROPIC.has(tier) ? tier : USUAL.has(tier) ? 'standard' : null

/** The `error_type` of a failure that names no kind, by its status. */
export function errorTypeOfStatus(status: number): ErrorType {
  if (status === 429) return 'rate_limit_exceeded'
  if (status === 408 || status === 504 || status === 524) return 'timeout'
  if (status === 502) return 'provider_unavailable'
  if (status === 503 || status === 529) return 'provider_overloaded'
  return status >= 400 && status < 500 ? 'invalid_request' : 'server'
}
