/**
 * W&B Weave by OTLP, protobuf only (https://docs.wandb.ai/weave/guides/tracking/otel, November 2026). Attributes: the
 * keys of its server (github.com/wandb/weave, trace_server/opentelemetry/constants.py).
 */
import { tracesAt } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'

export const weave = tracesKind('weave', ({ baseUrl = '', apiKey = '', entity = '', project = '' }) => ({
  url: tracesAt(baseUrl, '/otel'),
  headers: { 'wandb-api-key': apiKey },
  resource: { 'wandb.entity': entity, 'wandb.project': project },
  extras: (record) => ({
    request: {
      'weave.span.kind': 'chain',
      'wandb.thread_id': record.sessionId,
      'wandb.is_turn': record.sessionId === null ? null : true,
    },
    chat: {
      'weave.span.kind': 'llm',
      'wandb.thread_id': record.sessionId,
      'llm.provider': record.provider.slug,
      'llm.usage.total_tokens': record.usage.promptTokens + record.usage.completionTokens,
    },
  }),
}))
