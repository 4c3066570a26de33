/**
 * Grafana Cloud's OTLP gateway: the id of the instance and a token of an access policy
 * (https://grafana.com/docs/grafana-cloud/send-data/otlp/, November 2026).
 */
import { DESTINATION_TYPES } from '../destination-types.ts'
import { basic } from '../headers.ts'
import type { DestinationKind } from '../kind.ts'
import { TRACES_LIMITS, tracesAt, tracesCall } from '../otlp/call.ts'
import { meaningOfOtlp } from '../otlp/meaning.ts'

export const grafana: DestinationKind = {
  type: 'grafana',
  fields: DESTINATION_TYPES.grafana,
  limits: TRACES_LIMITS,
  batchOf(records, context) {
    const { baseUrl = '', instanceId = '', apiKey = '' } = context.config.fields
    const headers = { authorization: basic(instanceId, apiKey) }
    return [tracesCall(records, context, { url: tracesAt(baseUrl, '/otlp'), headers })]
  },
  meaningOf: meaningOfOtlp,
}
