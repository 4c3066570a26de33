/** A config for every type, with values that name their field. */
import type { DestinationType } from '../../src/exporters/destination-types.ts'

export const CONFIGS: Readonly<Record<DestinationType, Readonly<Record<string, string>>>> = {
  arize: { apiKey: 'ak', spaceKey: 'space', modelId: 'my-project', baseUrl: 'https://otlp.arize.com' },
  braintrust: { apiKey: 'ak', projectId: 'p-1', baseUrl: 'https://api.braintrust.dev' },
  clickhouse: {
    host: 'https://ch.example:8443',
    database: 'default',
    username: 'default',
    password: 'pw',
    table: 'OPENROUTER_TRACES',
  },
  datadog: { apiKey: 'ak', mlApp: 'app', url: 'https://api.datadoghq.com' },
  grafana: { apiKey: 'glc', instanceId: '7', baseUrl: 'https://otlp-gateway-prod-us-west-0.grafana.net' },
  langfuse: { publicKey: 'pk', secretKey: 'sk', baseUrl: 'https://us.cloud.langfuse.com' },
  langsmith: {
    apiKey: 'ak',
    endpoint: 'https://api.smith.langchain.com',
    project: 'main',
    workspaceId: 'w-1',
  },
  newrelic: { licenseKey: 'lk', region: 'eu' },
  opik: { apiKey: 'ak', workspace: 'team', projectName: 'my-project' },
  'otel-collector': { endpoint: 'http://127.0.0.1:4318/' },
  posthog: { apiKey: 'phc', endpoint: 'https://us.i.posthog.com' },
  ramp: { apiKey: 'ak', baseUrl: 'https://api.ramp.com/developer/v1/ai-usage/openrouter' },
  s3: {
    accessKeyId: 'AKIA',
    secretAccessKey: 'secret',
    bucketName: 'bucket',
    region: 'eu-central-1',
    prefix: 'traces',
    pathTemplate: '{prefix}/{date}',
  },
  sentry: {
    dsn: 'https://public@o1.ingest.sentry.io/2',
    otlpEndpoint: 'https://o1.ingest.sentry.io/api/2/integration/otlp/v1/traces',
  },
  snowflake: {
    account: 'acme-1',
    token: 'token',
    database: 'SNOWFLAKE_LEARNING_DB',
    schema: 'PUBLIC',
    table: 'OPENROUTER_TRACES',
    warehouse: 'COMPUTE_WH',
  },
  weave: { apiKey: 'ak', entity: 'team', project: 'my-project', baseUrl: 'https://trace.wandb.ai' },
  webhook: { url: 'https://hooks.example/in', method: 'PUT' },
}
