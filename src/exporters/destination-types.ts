/** The kinds of observability destinations with the names that clients of the API use. */

export type DestinationType =
  | 'arize'
  | 'braintrust'
  | 'clickhouse'
  | 'datadog'
  | 'grafana'
  | 'langfuse'
  | 'langsmith'
  | 'newrelic'
  | 'opik'
  | 'otel-collector'
  | 'posthog'
  | 'ramp'
  | 's3'
  | 'sentry'
  | 'snowflake'
  | 'weave'
  | 'webhook'

export interface ConfigField {
  readonly name: string
  /**
   * `url`: guarded, because a user wrote it; `host`: the same, its scheme may be left out; `dsn`: the same, with a key
   * before the host; `label`: becomes a part of a host name.
   */
  readonly kind: 'text' | 'url' | 'host' | 'dsn' | 'label'
  readonly isOptional?: boolean
  /** The default of the field. */
  readonly default?: string
  readonly choices?: readonly string[]
  /** Shown masked. */
  readonly isSecret?: boolean
  /** What is wrong with a value, as a sentence without its subject (`must be …`); null: nothing. */
  readonly check?: (value: string) => string | null
}

const text = (name: string, standard?: string): ConfigField => ({
  name,
  kind: 'text',
  ...(standard === undefined ? {} : { default: standard }),
})
const secret = (name: string): ConfigField => ({ name, kind: 'text', isSecret: true })
const url = (name: string, standard?: string): ConfigField => ({
  name,
  kind: 'url',
  ...(standard === undefined ? {} : { default: standard }),
})
const optional = (field: ConfigField): ConfigField => ({ ...field, isOptional: true })
const choice = (name: string, standard: string, choices: readonly string[]): ConfigField => ({
  name,
  kind: 'text',
  default: standard,
  choices,
})

const matching = (field: ConfigField, pattern: RegExp, says: string): ConfigField => ({
  ...field,
  check: (value) => (pattern.test(value) ? null : says),
})

/** A header carries it. */
const inHeader = (field: ConfigField): ConfigField =>
  matching(field, /^[\x20-\x7e]+$/, 'must be visible ASCII characters: it is sent in a header')

/** Names between slashes. `.` and `..` are steps of a path to whatever reads the URL. */
const OBJECT_PATH = /^(?!\.{1,2}(?:\/|$))[^/]+(?:\/(?!\.{1,2}(?:\/|$))[^/]+)*$/
const NO_OBJECT_PATH = 'must be names with "/" between them, without "." and ".." as names'

/** What a `pathTemplate` may name. */
const TEMPLATE_NAMES = ['prefix', 'date', 'hour', 'workspace', 'destination'] as const

function checkTemplate(template: string): string | null {
  const unknown = template
    .split(/[{}]/)
    .some((part, index) => index % 2 === 1 && !TEMPLATE_NAMES.some((name) => name === part))
  const braces = template.replace(/\{[a-z]{1,20}\}/g, '')
  if (unknown || /[{}]/.test(braces)) {
    return `may name ${TEMPLATE_NAMES.map((name) => `{${name}}`).join(', ')} in braces, and nothing else`
  }
  return OBJECT_PATH.test(template) ? null : NO_OBJECT_PATH
}

/** Every kind takes `headers` besides, a map of texts. */
export const DESTINATION_TYPES: Readonly<Record<DestinationType, readonly ConfigField[]>> = {
  arize: [
    inHeader(secret('apiKey')),
    inHeader(secret('spaceKey')),
    text('modelId'),
    url('baseUrl', 'https://otlp.arize.com'),
  ],
  braintrust: [
    inHeader(secret('apiKey')),
    inHeader(text('projectId')),
    url('baseUrl', 'https://api.braintrust.dev'),
  ],
  clickhouse: [
    { name: 'host', kind: 'host' },
    text('database'),
    text('username'),
    secret('password'),
    text('table', 'OPENROUTER_TRACES'),
  ],
  datadog: [
    inHeader(secret('apiKey')),
    matching(
      text('mlApp'),
      /^[\p{L}\p{N}_\-:./]{1,193}$/u,
      'must have at most 193 characters: letters, digits and _ - : . /',
    ),
    url('url', 'https://api.datadoghq.com'),
  ],
  grafana: [
    secret('apiKey'),
    text('instanceId'),
    url('baseUrl', 'https://otlp-gateway-prod-us-west-0.grafana.net'),
  ],
  langfuse: [
    inHeader(text('publicKey')),
    secret('secretKey'),
    url('baseUrl', 'https://us.cloud.langfuse.com'),
  ],
  langsmith: [
    inHeader(secret('apiKey')),
    url('endpoint', 'https://api.smith.langchain.com'),
    text('project', 'main'),
    inHeader(optional(text('workspaceId'))),
  ],
  newrelic: [inHeader(secret('licenseKey')), choice('region', 'us', ['us', 'eu'])],
  opik: [inHeader(secret('apiKey')), inHeader(text('workspace')), inHeader(text('projectName'))],
  'otel-collector': [url('endpoint')],
  posthog: [secret('apiKey'), url('endpoint', 'https://us.i.posthog.com')],
  ramp: [inHeader(secret('apiKey')), url('baseUrl', 'https://api.ramp.com/developer/v1/ai-usage/openrouter')],
  s3: [
    inHeader(secret('accessKeyId')),
    secret('secretAccessKey'),
    matching(
      text('bucketName'),
      /^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
      'must be the name of a bucket: 3 to 63 lower-case letters, digits, "." and "-"',
    ),
    matching(
      optional(text('region')),
      /^[a-z0-9-]{1,40}$/,
      'must be the name of a region such as eu-central-1, or "auto"',
    ),
    optional(url('endpoint')),
    inHeader(optional(secret('sessionToken'))),
    matching(text('prefix', 'openrouter-traces'), OBJECT_PATH, NO_OBJECT_PATH),
    { ...text('pathTemplate', '{prefix}/{date}'), check: checkTemplate },
  ],
  sentry: [
    {
      name: 'dsn',
      kind: 'dsn',
      isSecret: true,
      check: (value) => (URL.parse(value)?.username ? null : 'must have the public key before the host'),
    },
    url('otlpEndpoint'),
  ],
  snowflake: [
    {
      name: 'account',
      kind: 'label',
      check: (value) =>
        value.toLowerCase().includes('snowflakecomputing')
          ? 'must be the account identifier alone, such as myorg-myaccount, without .snowflakecomputing.com'
          : null,
    },
    inHeader(secret('token')),
    text('database', 'SNOWFLAKE_LEARNING_DB'),
    text('schema', 'PUBLIC'),
    text('table', 'OPENROUTER_TRACES'),
    text('warehouse', 'COMPUTE_WH'),
  ],
  weave: [
    inHeader(secret('apiKey')),
    text('entity'),
    text('project'),
    url('baseUrl', 'https://trace.wandb.ai'),
  ],
  webhook: [url('url'), choice('method', 'POST', ['POST', 'PUT'])],
}

export const isDestinationType = (name: string): name is DestinationType =>
  Object.hasOwn(DESTINATION_TYPES, name)

/** Of an otel-collector: `json` for collectors that do not read protobuf. It is not sent. */
export const ENCODING_HEADER = 'x-sluice-encoding'

/** The `config` of a destination: its fields, and `headers`. */
export interface DestinationConfig {
  readonly fields: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>> | null
  /** Of webhooks: what events are signed with, newest first. */
  readonly signing?: readonly SigningSecret[]
}

export interface SigningSecret {
  /** `whsec_` and base64 of 24 to 64 bytes, as Standard Webhooks writes it. */
  readonly secret: string
  /** Milliseconds since 1970: it has a successor, and signs until then; null: it signs until it is replaced. */
  readonly until: number | null
}
