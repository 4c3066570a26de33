/** Any receiver of OTLP over HTTP (https://opentelemetry.io/docs/specs/otlp/#otlphttp, November 2026). */
import { DESTINATION_TYPES, ENCODING_HEADER } from '../destination-types.ts'
import { lowerCased } from '../headers.ts'
import type { DestinationKind } from '../kind.ts'
import { TRACES_LIMITS, tracesAt, tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'

export const otelCollector: DestinationKind = {
  type: 'otel-collector',
  fields: DESTINATION_TYPES['otel-collector'],
  limits: TRACES_LIMITS,
  batchOf(records, context) {
    const { fields, headers } = context.config
    const { [ENCODING_HEADER]: encoding, ...others } = lowerCased(headers ?? {})
    const { endpoint = '' } = fields
    const config = { ...context.config, headers: others }
    return [
      tracesCall(
        records,
        { ...context, config },
        {
          url: tracesAt(endpoint),
          headers: {},
          encoding: encoding === 'json' ? 'json' : 'protobuf',
        },
      ),
    ]
  },
  meaningOf: meaningOfOtlp,
}
