/**
 * New Relic by OTLP, protobuf as it advises, at most 1 MB a request
 * (https://docs.newrelic.com/docs/opentelemetry/best-practices/opentelemetry-otlp/, November 2026).
 */
import { DESTINATION_TYPES } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'

const ADDRESSES: Readonly<Record<string, string>> = {
  us: 'https://otlp.nr-data.net/v1/traces',
  eu: 'https://otlp.eu01.nr-data.net/v1/traces',
}

export const newrelic: DestinationKind = {
  type: 'newrelic',
  fields: DESTINATION_TYPES.newrelic,
  limits: { records: 512, bytes: 1_000_000, waitMs: 1_000 },
  batchOf(records, context) {
    const { licenseKey = '', region = 'us' } = context.config.fields
    const headers = { 'api-key': licenseKey }
    return [tracesCall(records, context, { url: ADDRESSES[region] ?? '', headers })]
  },
  meaningOf: meaningOfOtlp,
}
