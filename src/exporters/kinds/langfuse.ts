/**
 * Langfuse by OTLP. Attributes and path: @langfuse/otel and @langfuse/tracing 5.11.1, which win where they differ from
 * https://langfuse.com/integrations/native/opentelemetry (November 2026).
 */
import { usdOf } from '../../core/money.ts'
import { chatMessages } from '../chat-messages.ts'
import { type Conversation, promptOf } from '../conversation.ts'
import { basic } from '../headers.ts'
import { jsonText } from '../json-text.ts'
import { tracesAt } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'
import { type Attributes, prefixed } from '../otlp/span.ts'
import { parametersOf } from '../parameters.ts'
import type { ExportRecord } from '../record.ts'

export const langfuse = tracesKind('langfuse', ({ baseUrl = '', publicKey = '', secretKey = '' }) => {
  const headers = {
    authorization: basic(publicKey, secretKey),
    'x-langfuse-public-key': publicKey,
  }
  return { url: tracesAt(baseUrl, '/api/public/otel'), headers, extras: extrasOf }
})

const extrasOf = (record: ExportRecord, conversation: Conversation | null) => {
  const trace = traceAttributes(record)
  const messages = {
    'langfuse.observation.input': conversation && jsonText(chatMessages(promptOf(conversation))),
    'langfuse.observation.output': conversation && replyText(conversation),
  }
  return {
    request: { ...trace, 'langfuse.observation.type': 'span', ...messages },
    chat: { ...trace, ...observationAttributes(record), ...messages },
  }
}

/** One choice is a message, several are a list of them. */
function replyText({ output }: Conversation): string {
  const [first, ...more] = chatMessages(output)
  return jsonText(more.length === 0 ? (first ?? null) : [first, ...more])
}

/** Langfuse takes what belongs to a trace from any span of it. */
const traceAttributes = (record: ExportRecord): Attributes => ({
  'langfuse.trace.name': record.trace.traceName,
  'user.id': record.identity?.user,
  'session.id': record.sessionId,
  ...prefixed('langfuse.trace.metadata.', { ...record.trace.extra, ...record.metadata }),
})

function observationAttributes(record: ExportRecord): Attributes {
  const { error, firstContentAt } = record
  const parameters = parametersOf(record.parameters)
  return {
    'langfuse.observation.type': record.apiType === 'embeddings' ? 'embedding' : 'generation',
    'langfuse.observation.model.name': record.model,
    'langfuse.observation.model.parameters': jsonText(parameters),
    'langfuse.observation.usage_details': jsonText(usageOf(record)),
    'langfuse.observation.cost_details': costText(record),
    // As its SDK writes it: a JSON text in a text.
    'langfuse.observation.completion_start_time':
      firstContentAt === null ? null : JSON.stringify(new Date(firstContentAt)),
    'langfuse.observation.level': error === null ? null : 'ERROR',
    'langfuse.observation.status_message': error?.message ?? error?.type,
  }
}

/** Langfuse adds the parts up, so cached and reasoning tokens are not in `input` and `output` a second time. */
function usageOf({ usage }: ExportRecord): Record<string, number> {
  const { promptTokens, completionTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage
  const parts = {
    input_cached_tokens: cacheReadTokens,
    input_cache_creation: cacheWriteTokens,
    output_reasoning_tokens: reasoningTokens,
  }
  return {
    input: Math.max(0, promptTokens - cacheReadTokens - cacheWriteTokens),
    output: Math.max(0, completionTokens - reasoningTokens),
    ...Object.fromEntries(Object.entries(parts).filter(([, tokens]) => tokens > 0)),
    total: promptTokens + completionTokens,
  }
}

function costText({ cost }: ExportRecord): string | null {
  if (cost === null) return null
  const { totalNanoUsd, promptNanoUsd, completionNanoUsd } = cost
  const parts =
    promptNanoUsd === null || completionNanoUsd === null
      ? {}
      : { input: usdOf(promptNanoUsd), output: usdOf(completionNanoUsd) }
  return jsonText({ ...parts, total: usdOf(totalNanoUsd) })
}
