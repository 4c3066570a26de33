/** Langfuse by OTLP (https://langfuse.com/integrations/native/opentelemetry, November 2026). */
import { DESTINATION_TYPES } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { basic, TRACES_LIMITS, tracesAt, tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'

export const langfuse: DestinationKind = {
  type: 'langfuse',
  fields: DESTINATION_TYPES.langfuse,
  limits: TRACES_LIMITS,
  batchOf(records, context) {
    const { baseUrl = '', publicKey = '', secretKey = '' } = context.config.fields
    const headers = { authorization: basic(publicKey, secretKey) }
    return [tracesCall(records, context, { url: tracesAt(baseUrl, '/api/public/otel'), headers })]
  },
  meaningOf: meaningOfOtlp,
}
