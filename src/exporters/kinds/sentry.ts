/**
 * Sentry by OTLP: the address as the project's page shows it, and the public key of the DSN
 * (https://docs.sentry.io/concepts/otlp/, November 2026). Names beside the conventions': @sentry/node 11.12.0.
 */
import { operationNameOf } from '../../core/gen-ai.ts'
import { DESTINATION_TYPES } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { TRACES_LIMITS, tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'

export const sentry: DestinationKind = {
  type: 'sentry',
  fields: DESTINATION_TYPES.sentry,
  limits: { ...TRACES_LIMITS, bytes: 1_000_000 },
  batchOf(records, context) {
    const { dsn = '', otlpEndpoint = '' } = context.config.fields
    return [
      tracesCall(records, context, {
        url: otlpEndpoint,
        headers: { 'x-sentry-auth': `sentry sentry_key=${new URL(dsn).username}` },
        extras: (record) => ({
          request: { 'sentry.op': 'http.server' },
          chat: {
            'sentry.op': `gen_ai.${operationNameOf(record.apiType)}`,
            'gen_ai.usage.total_tokens': record.usage.promptTokens + record.usage.completionTokens,
          },
        }),
      }),
    ]
  },
  meaningOf: meaningOfOtlp,
}
