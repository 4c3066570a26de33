/** Ramp's intake of AI usage, by OTLP: an address and a bearer token. Its spans have nothing of the vendor's own. */
import { DESTINATION_TYPES } from '../destination-types.ts'
import type { DestinationKind } from '../kind.ts'
import { TRACES_LIMITS, tracesAt, tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'

export const ramp: DestinationKind = {
  type: 'ramp',
  fields: DESTINATION_TYPES.ramp,
  limits: TRACES_LIMITS,
  batchOf(records, context) {
    const { baseUrl = '', apiKey = '' } = context.config.fields
    const headers = { authorization: `Bearer ${apiKey}` }
    return [tracesCall(records, context, { url: tracesAt(baseUrl), headers })]
  },
  meaningOf: meaningOfOtlp,
}
