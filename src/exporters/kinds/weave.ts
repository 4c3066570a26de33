/**
 * W&B Weave by OTLP, protobuf only (https://docs.wandb.ai/weave/guides/tracking/otel, November 2026). Attributes: the
 * keys of its server (github.com/wandb/weave, trace_server/opentelemetry/constants.py).
 */
import { DESTINATION_TYPES } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { TRACES_LIMITS, tracesAt, tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'

export const weave: DestinationKind = {
  type: 'weave',
  fields: DESTINATION_TYPES.weave,
  limits: TRACES_LIMITS,
  batchOf(records, context) {
    const { baseUrl = '', apiKey = '', entity = '', project = '' } = context.config.fields
    return [
      tracesCall(records, context, {
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
      }),
    ]
  },
  meaningOf: meaningOfOtlp,
}
