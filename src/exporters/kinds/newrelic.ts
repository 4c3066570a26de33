/**
 * New Relic by OTLP, protobuf as it advises, at most 1 MB a request
 * (https://docs.newrelic.com/docs/opentelemetry/best-practices/opentelemetry-otlp/, November 2026).
 */
import { tracesKind } from '../otlp/kind.ts'

const ADDRESSES: Readonly<Record<string, string>> = {
  us: 'https://otlp.nr-data.net/v1/traces',
  eu: 'https://otlp.eu01.nr-data.net/v1/traces',
}

export const newrelic = tracesKind(
  'newrelic',
  ({ licenseKey = '', region = 'us' }) => ({
    url: ADDRESSES[region] ?? '',
    headers: { 'api-key': licenseKey },
  }),
  { records: 512, bytes: 1_000_000, waitMs: 1_000 },
)
