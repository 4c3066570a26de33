/**
 * Braintrust by OTLP (https://www.braintrust.dev/docs/integrations/sdk-integrations/opentelemetry, November 2026): names
 * of its `braintrust.*` attributes as its SDKs for Go, Java and Ruby write them, names of metrics as braintrust 3.35.0.
 */
import { usdOf } from '../../core/money.ts'
import { chatMessages } from '../chat-messages.ts'
import { type Conversation, promptOf } from '../conversation.ts'
import { jsonText } from '../json-text.ts'
import { tracesAt } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'
import { parametersOf } from '../parameters.ts'
import type { ExportRecord } from '../record.ts'

export const braintrust = tracesKind('braintrust', ({ baseUrl = '', apiKey = '', projectId = '' }) => ({
  url: tracesAt(baseUrl, '/otel'),
  headers: { authorization: `Bearer ${apiKey}`, 'x-bt-parent': `project_id:${projectId}` },
  extras: (record, conversation) => ({
    request: { 'braintrust.span_attributes': jsonText({ type: 'task' }) },
    chat: chatExtras(record, conversation),
  }),
}))

const chatExtras = (record: ExportRecord, conversation: Conversation | null) => ({
  'braintrust.span_attributes': jsonText({ type: 'llm' }),
  'braintrust.metadata': jsonText(metadataOf(record)),
  'braintrust.metrics': jsonText(metricsOf(record)),
  'braintrust.input_json': conversation && jsonText(chatMessages(promptOf(conversation))),
  'braintrust.output_json': conversation && jsonText(chatMessages(conversation.output)),
})

const metadataOf = (record: ExportRecord) => ({
  ...record.trace.extra,
  ...record.metadata,
  ...parametersOf(record.parameters),
  model: record.model,
  provider: record.provider.slug,
  ...(record.sessionId === null ? {} : { session_id: record.sessionId }),
})

function metricsOf({ usage, cost, firstContentAt, startedAt }: ExportRecord): Record<string, number> {
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    tokens: usage.promptTokens + usage.completionTokens,
    prompt_cached_tokens: usage.cacheReadTokens,
    prompt_cache_creation_tokens: usage.cacheWriteTokens,
    completion_reasoning_tokens: usage.reasoningTokens,
    ...(firstContentAt === null ? {} : { time_to_first_token: (firstContentAt - startedAt) / 1000 }),
    ...(cost === null ? {} : { estimated_cost: usdOf(cost.totalNanoUsd) }),
  }
}
