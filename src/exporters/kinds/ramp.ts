/**
 * Ramp's intake of AI usage, by OTLP. The vendor's page names the address and the token only
 * (https://docs.ramp.com/developer-api, November 2026): spans have nothing of its own.
 */
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
