/** The field with the address of each kind that has one; New Relic, Opik and Snowflake have the vendor's own. */
export const ADDRESSES = {
  arize: 'baseUrl',
  braintrust: 'baseUrl',
  clickhouse: 'host',
  datadog: 'url',
  grafana: 'baseUrl',
  langfuse: 'baseUrl',
  langsmith: 'endpoint',
  'otel-collector': 'endpoint',
  posthog: 'endpoint',
  ramp: 'baseUrl',
  s3: 'endpoint',
  sentry: 'otlpEndpoint',
  weave: 'baseUrl',
  webhook: 'url',
}
