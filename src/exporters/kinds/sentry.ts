/**
 * Sentry by OTLP: the address as the project's page shows it, and the public key of the DSN
 * (https://docs.sentry.io/concepts/otlp/, November 2026). Names beside the conventions': @sentry/node 11.12.0.
 */
import { operationNameOf } from '../../core/gen-ai.ts'
import { TRACES_LIMITS } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'

export const sentry = tracesKind(
  'sentry',
  ({ dsn = '', otlpEndpoint = '' }) => ({
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
  { ...TRACES_LIMITS, bytes: 1_000_000 },
)
