import * as read from './readers.ts'

/** One setting: where it may be said, what it may be, and what it is when nobody says. */
export interface Setting<T> {
  /** The environment variable. The key in sluice.yaml is the same without SLUICE_, in lower case. */
  readonly variable: `SLUICE_${string}`
  /** As `sluice serve` takes it; absent for secrets and for what is seldom changed. */
  readonly flag?: string
  readonly type: string
  readonly fallback: T
  readonly read: read.Read<T>
  readonly meaning: string
}

const setting = <T>(one: Setting<T>): Setting<T> => one
const optional = <T>(one: Omit<Setting<T | null>, 'fallback'>): Setting<T | null> => ({
  ...one,
  fallback: null,
})
const HOUR_MS = 3_600_000
const noRanges: readonly string[] = []

export type RefreshSchedule = 'off' | 'daily' | 'weekly'
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'fatal'

/** Every setting. Precedence: flag, environment, sluice.yaml, default. */
export const settings = {
  host: setting({
    variable: 'SLUICE_HOST',
    flag: '--host <address>',
    type: 'address or name',
    fallback: '127.0.0.1',
    read: read.listenHost,
    meaning: 'Where to listen. Beyond this machine only with a secret key and both keys.',
  }),
  port: setting({
    variable: 'SLUICE_PORT',
    flag: '--port <number>',
    type: 'number',
    fallback: 4141,
    read: read.wholeNumber(0, 65_535),
    meaning: 'Port to listen on; 0 takes a free one.',
  }),
  data: setting({
    variable: 'SLUICE_DATA',
    flag: '--data <folder>',
    type: 'folder',
    fallback: './sluice-data',
    read: read.text('the path of a folder', (value) => value !== ''),
    meaning: 'Data folder: database, files, secret key. Made on the first run.',
  }),
  publicUrl: optional({
    variable: 'SLUICE_PUBLIC_URL',
    flag: '--public-url <url>',
    type: 'URL',
    read: read.webAddress,
    meaning: 'How others reach this server, for links that it prints. Default: host and port.',
  }),
  basePath: setting({
    variable: 'SLUICE_BASE_PATH',
    flag: '--base-path <path>',
    type: 'path',
    fallback: '',
    read: read.pathPrefix,
    meaning: 'Serve everything below this path, such as `/sluice`.',
  }),
  trustedProxies: setting({
    variable: 'SLUICE_TRUSTED_PROXIES',
    type: 'addresses, CIDRs',
    fallback: noRanges,
    read: read.listOf('addresses or CIDR ranges', read.addressRange),
    meaning: 'Reverse proxies whose `X-Forwarded-For` is believed.',
  }),
  secretKey: optional({
    variable: 'SLUICE_SECRET_KEY',
    type: '32 bytes, hex or base64',
    read: read.secretKey,
    meaning:
      'Seals provider credentials. Default: made on the first run, in `secret.key` of the data folder.',
  }),
  managementKey: optional({
    variable: 'SLUICE_MANAGEMENT_KEY',
    type: '≥ 32 visible ASCII',
    read: read.bootstrapKey,
    meaning: 'A management key of your own, valid at every start.',
  }),
  apiKey: optional({
    variable: 'SLUICE_API_KEY',
    type: '≥ 32 visible ASCII',
    read: read.bootstrapKey,
    meaning: 'An inference key of your own, without limit, in the default workspace.',
  }),
  adminEmail: optional({
    variable: 'SLUICE_ADMIN_EMAIL',
    type: 'e-mail',
    read: read.emailAddress,
    meaning: "The owner's address, ensured at every start.",
  }),
  adminPassword: optional({
    variable: 'SLUICE_ADMIN_PASSWORD',
    type: '12 to 256 characters',
    read: read.password,
    meaning: "The owner's password, ensured at every start. Needs the address.",
  }),
  oidcIssuer: optional({
    variable: 'SLUICE_OIDC_ISSUER',
    type: 'URL',
    read: read.webAddress,
    meaning: 'The identity provider for single sign-on: what it calls its issuer.',
  }),
  oidcClientId: optional({
    variable: 'SLUICE_OIDC_CLIENT_ID',
    type: 'text',
    read: read.opaque,
    meaning: 'As whom this server is registered there.',
  }),
  oidcClientSecret: optional({
    variable: 'SLUICE_OIDC_CLIENT_SECRET',
    type: 'text',
    read: read.opaque,
    meaning: 'Its secret there; without one PKCE alone protects the sign-in.',
  }),
  oidcScopes: setting({
    variable: 'SLUICE_OIDC_SCOPES',
    type: 'words',
    fallback: 'openid email profile',
    read: read.text(
      'scopes separated by spaces, openid among them',
      (value) => /^[\x21\x23-\x5b\x5d-\x7e ]+$/.test(value) && value.split(' ').includes('openid'),
    ),
    meaning: 'What the identity provider is asked for; some need `groups` among it.',
  }),
  oidcGroupsClaim: setting({
    variable: 'SLUICE_OIDC_GROUPS_CLAIM',
    type: 'name',
    fallback: 'groups',
    read: read.text('the name of a claim', (value) => value !== ''),
    meaning: 'The claim that lists the groups of a person.',
  }),
  oidcAdminGroups: setting({
    variable: 'SLUICE_OIDC_ADMIN_GROUPS',
    type: 'groups',
    fallback: noRanges,
    read: read.listOf('groups', (group) => group),
    meaning: 'Who is in one of them is an administrator, everybody else a member, at each sign-in.',
  }),
  oidcMemberGroups: setting({
    variable: 'SLUICE_OIDC_MEMBER_GROUPS',
    type: 'groups',
    fallback: noRanges,
    read: read.listOf('groups', (group) => group),
    meaning: "Only who is in one of them, or of the administrators', may sign in. Default: everybody there.",
  }),
  oidcTrustEmail: setting({
    variable: 'SLUICE_OIDC_TRUST_EMAIL',
    type: '`on`, `off`',
    fallback: false,
    read: read.onOff,
    meaning: 'Take e-mail addresses for verified where the identity provider does not say (Entra).',
  }),
  logLevel: setting<LogLevel>({
    variable: 'SLUICE_LOG_LEVEL',
    flag: '--log-level <level>',
    type: '`trace` … `fatal`',
    fallback: 'info',
    read: read.oneOf('trace', 'debug', 'info', 'warn', 'error', 'fatal'),
    meaning: 'Least severe level that is logged. No level logs a prompt or a key.',
  }),
  firstByteTimeoutMs: setting({
    variable: 'SLUICE_FIRST_BYTE_TIMEOUT_MS',
    type: 'milliseconds',
    fallback: 120_000,
    read: read.wholeNumber(1, 24 * HOUR_MS, 'milliseconds'),
    meaning: 'Longest wait for a provider to begin its answer.',
  }),
  stallTimeoutMs: setting({
    variable: 'SLUICE_STALL_TIMEOUT_MS',
    type: 'milliseconds',
    fallback: 60_000,
    read: read.wholeNumber(1, 24 * HOUR_MS, 'milliseconds'),
    meaning: 'Longest silence of a provider within an answer.',
  }),
  shutdownGraceMs: setting({
    variable: 'SLUICE_SHUTDOWN_GRACE_MS',
    type: 'milliseconds',
    fallback: 30_000,
    read: read.wholeNumber(0, 24 * HOUR_MS, 'milliseconds'),
    meaning: 'How long running requests may finish after SIGTERM.',
  }),
  roomWaitMs: setting({
    variable: 'SLUICE_ROOM_WAIT_MS',
    type: 'milliseconds',
    fallback: 2_000,
    read: read.wholeNumber(0, 60_000, 'milliseconds'),
    meaning:
      'How long a request waits if only running requests hold the money of its limit; 0: it is refused.',
  }),
  outboundAllow: setting({
    variable: 'SLUICE_OUTBOUND_ALLOW',
    type: 'hosts, CIDRs',
    fallback: noRanges,
    read: read.listOf('hosts, addresses or CIDR ranges', read.hostOrRange),
    meaning: 'Private hosts that URLs given by callers may reach all the same.',
  }),
  discover: setting({
    variable: 'SLUICE_DISCOVER',
    type: '`on`, `off`',
    fallback: true,
    read: read.onOff,
    meaning: 'Look for Ollama, LM Studio, llama.cpp and vLLM on this machine.',
  }),
  bodiesMaxMb: setting({
    variable: 'SLUICE_BODIES_MAX_MB',
    type: 'MB',
    fallback: 0,
    read: read.wholeNumber(0, 100_000_000, 'MB'),
    meaning: 'Bound of `bodies.db`, 0 for none: the oldest logged contents go first, stored responses stay.',
  }),
  ledgerRetentionDays: setting({
    variable: 'SLUICE_LEDGER_RETENTION_DAYS',
    type: 'days',
    fallback: 0,
    read: read.wholeNumber(0, 36_500, 'days'),
    meaning: 'How long rows of single generations are kept; 0: for ever. Sums of them are always kept.',
  }),
  ledgerMaxMb: setting({
    variable: 'SLUICE_LEDGER_MAX_MB',
    type: 'MB',
    fallback: 0,
    read: read.wholeNumber(0, 100_000_000, 'MB'),
    meaning: 'How much `sluice.db` may hold before its oldest rows go; 0: without bound.',
  }),
  responsesRetentionDays: setting({
    variable: 'SLUICE_RESPONSES_RETENTION_DAYS',
    type: 'days',
    fallback: 30,
    read: read.wholeNumber(1, 36_500, 'days'),
    meaning: 'How long logged contents, and stored responses after the last answer on them, are kept.',
  }),
  adminRateLimit: setting({
    variable: 'SLUICE_ADMIN_RATE_LIMIT',
    type: 'requests a minute',
    fallback: 6_000,
    read: read.wholeNumber(0, 1_000_000_000, 'requests a minute'),
    meaning: 'How often one key may call administration in a minute; 0: as often as it likes.',
  }),
  responseCacheMb: setting({
    variable: 'SLUICE_RESPONSE_CACHE_MB',
    type: 'MB',
    fallback: 64,
    read: read.wholeNumber(0, 1_000_000, 'MB'),
    meaning: 'How much memory kept answers may take together; 0: none is kept, whoever asks for it.',
  }),
  contextCache: setting({
    variable: 'SLUICE_CONTEXT_CACHE',
    type: '`on`, `off`',
    fallback: true,
    read: read.onOff,
    meaning: 'Have Google keep what `cache_control` marks, for five minutes each, where that has a price.',
  }),
  filesQuotaMb: setting({
    variable: 'SLUICE_FILES_QUOTA_MB',
    type: 'MB',
    fallback: 10_000,
    read: read.wholeNumber(1, 100_000_000, 'MB'),
    meaning: 'How much the uploaded files of one workspace may take together.',
  }),
  modelsRefresh: setting<RefreshSchedule>({
    variable: 'SLUICE_MODELS_REFRESH',
    type: '`off`, `daily`, `weekly`',
    fallback: 'off',
    read: read.oneOf('off', 'daily', 'weekly'),
    meaning: 'How often newer facts about models and prices are fetched. Nothing is fetched at the start.',
  }),
  modelsUrl: setting({
    variable: 'SLUICE_MODELS_URL',
    type: 'URL',
    fallback: 'https://models.dev/api.json',
    read: read.webAddress,
    meaning: 'Where facts about models are fetched from: a document of the models.dev shape.',
  }),
  modelsList: setting<'configured' | 'all'>({
    variable: 'SLUICE_MODELS_LIST',
    type: '`configured`, `all`',
    fallback: 'configured',
    read: read.oneOf('configured', 'all'),
    meaning: 'What lists of models show: what can be called here, or the whole catalogue.',
  }),
  benchmarks: optional({
    variable: 'SLUICE_BENCHMARKS',
    type: 'file',
    read: read.text('the path of a file', (value) => value !== ''),
    meaning: 'Scores and categories of models, for sorts and filters of lists: JSON by model id.',
  }),
  personNames: optional({
    variable: 'SLUICE_PERSON_NAMES',
    type: 'file',
    read: read.text('the path of a file', (value) => value !== ''),
    meaning: 'Names of people that the content filter `person-name` looks for: one a line, UTF-8.',
  }),
  unpriced: setting<read.UnpricedPolicy>({
    variable: 'SLUICE_UNPRICED',
    type: '`refuse`, USD per token',
    fallback: 'refuse',
    read: read.unpricedPolicy,
    meaning: 'Models without a price: refuse them, or charge `prompt,completion` (one number for both).',
  }),
} satisfies Record<string, Setting<unknown>>
