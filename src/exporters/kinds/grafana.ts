/**
 * Grafana Cloud's OTLP gateway: the id of the instance and a token of an access policy
 * (https://grafana.com/docs/grafana-cloud/send-data/otlp/, November 2026).
 */
import { basic } from '../headers.ts'
import { tracesAt } from '../otlp/call.ts'
import { tracesKind } from '../otlp/kind.ts'

export const grafana = tracesKind('grafana', ({ baseUrl = '', instanceId = '', apiKey = '' }) => ({
  url: tracesAt(baseUrl, '/otlp'),
  headers: { authorization: basic(instanceId, apiKey) },
}))
