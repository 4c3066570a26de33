import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { exposureProblem } from '../src/config/exposure.ts'
import { type Config, ConfigError, type ConfigSources, loadConfig, settings } from '../src/config.ts'
import { readEntries } from '../src/providers/entries.ts'

const root = mkdtempSync(join(tmpdir(), 'sluice-config-'))
afterAll(() => rmSync(root, { recursive: true }))
let folder = root
beforeEach(() => {
  folder = mkdtempSync(join(root, 'case-'))
})

const write = (name: string, content: string): string => {
  const path = join(folder, name)
  writeFileSync(path, content)
  return path
}
const load = (sources: ConfigSources = {}): Promise<Config> =>
  loadConfig({ environment: {}, workingFolder: folder, ...sources })
async function problemsOf(sources: ConfigSources): Promise<readonly string[]> {
  const outcome = await load(sources).catch((error: unknown) => error)
  if (!(outcome instanceof ConfigError))
    throw new Error(`expected a ConfigError, got ${Bun.inspect(outcome)}`)
  return outcome.problems
}
const key = (letter: string): string => letter.repeat(32)

describe('where a value comes from', () => {
  test('without anything: the defaults, and the data folder made absolute', async () => {
    const config = await load()
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 4141,
      data: join(folder, 'sluice-data'),
      basePath: '',
      logLevel: 'info',
      logFormat: 'auto',
      firstByteTimeoutMs: 120_000,
      stallTimeoutMs: 60_000,
      shutdownGraceMs: 30_000,
      discover: true,
      modelsRefresh: 'off',
      modelsUrl: 'https://models.dev/api.json',
      modelsList: 'configured',
      benchmarks: null,
      personNames: null,
      unpriced: 'refuse',
      secretKey: null,
      configFile: null,
      providers: [],
      warnings: [],
    })
  })

  test('a flag wins over the environment, the environment over the file', async () => {
    write('sluice.yaml', 'port: 1\nlog_level: warn\nstall_timeout_ms: 7\n')
    const config = await load({
      flags: { port: '3' },
      environment: { SLUICE_PORT: '2', SLUICE_LOG_LEVEL: 'error' },
    })
    expect([config.port, config.logLevel, config.stallTimeoutMs]).toEqual([3, 'error', 7])
  })

  test('an empty variable says nothing', async () => {
    expect((await load({ environment: { SLUICE_PORT: '', SLUICE_CONFIG: '' } })).port).toBe(4141)
  })

  test('every setting may be said in the file under its own name', async () => {
    const inFile: Record<string, unknown> = {
      host: '::1',
      port: 5000,
      data: 'elsewhere',
      public_url: 'https://ai.example.org/',
      base_path: '/sluice/',
      trusted_proxies: ['10.0.0.0/8', '::1'],
      secret_key: 'ab'.repeat(32),
      management_key: key('m'),
      api_key: key('a'),
      admin_email: 'owner@example.org',
      admin_password: 'correct horse battery',
      oidc_issuer: 'https://id.example.org/',
      oidc_client_id: 'sluice',
      oidc_client_secret: 'client-secret',
      oidc_scopes: 'openid email profile groups',
      oidc_groups_claim: 'roles',
      oidc_admin_groups: ['admins', 'owners'],
      oidc_member_groups: 'staff, guests',
      oidc_trust_email: true,
      log_level: 'debug',
      log_format: 'text',
      first_byte_timeout_ms: 1,
      stall_timeout_ms: 2,
      shutdown_grace_ms: 0,
      room_wait_ms: 0,
      max_in_flight: 20_000,
      bodies_in_flight_mb: 64,
      outbound_allow: ['Intra.example.org', '*.lab.example', '192.168.0.0/16'],
      cors_origins: ['https://App.example.org/', 'http://localhost:5173'],
      discover: false,
      bodies_max_mb: 500,
      ledger_retention_days: 400,
      ledger_max_mb: 6,
      responses_retention_days: 7,
      responses_items_minutes: 5,
      admin_rate_limit: 9,
      response_cache_mb: 4,
      context_cache: false,
      files_quota_mb: 8,
      models_refresh: 'weekly',
      models_url: 'https://mirror.example/api.json',
      models_list: 'all',
      benchmarks: '/data/scores.json',
      person_names: '/data/names.txt',
      unpriced: '0.000001,0.000002',
    }
    expect(Object.keys(inFile).sort()).toEqual(
      Object.values(settings)
        .map(({ variable }) => variable.slice('SLUICE_'.length).toLowerCase())
        .sort(),
    )
    write('sluice.yaml', JSON.stringify(inFile))
    expect(await load()).toMatchObject({
      host: '::1',
      port: 5000,
      data: join(folder, 'elsewhere'),
      publicUrl: 'https://ai.example.org',
      basePath: '/sluice',
      trustedProxies: ['10.0.0.0/8', '::1/128'],
      secretKey: new Uint8Array(32).fill(0xab),
      managementKey: key('m'),
      apiKey: key('a'),
      adminEmail: 'owner@example.org',
      adminPassword: 'correct horse battery',
      oidcIssuer: 'https://id.example.org',
      oidcClientId: 'sluice',
      oidcClientSecret: 'client-secret',
      oidcScopes: 'openid email profile groups',
      oidcGroupsClaim: 'roles',
      oidcAdminGroups: ['admins', 'owners'],
      oidcMemberGroups: ['staff', 'guests'],
      oidcTrustEmail: true,
      logLevel: 'debug',
      logFormat: 'text',
      firstByteTimeoutMs: 1,
      stallTimeoutMs: 2,
      shutdownGraceMs: 0,
      roomWaitMs: 0,
      maxInFlight: 20_000,
      bodiesInFlightMb: 64,
      outboundAllow: ['intra.example.org', '*.lab.example', '192.168.0.0/16'],
      discover: false,
      ledgerRetentionDays: 400,
      ledgerMaxMb: 6,
      responsesRetentionDays: 7,
      responsesItemsMinutes: 5,
      adminRateLimit: 9,
      filesQuotaMb: 8,
      modelsRefresh: 'weekly',
      modelsUrl: 'https://mirror.example/api.json',
      modelsList: 'all',
      benchmarks: '/data/scores.json',
      unpriced: { prompt: 1_000_000_000_000n, completion: 2_000_000_000_000n },
    })
  })
})

describe('the settings file', () => {
  test('the working folder comes before the data folder', async () => {
    mkdirSync(join(folder, 'sluice-data'))
    const inData = write('sluice-data/sluice.yaml', 'port: 2')
    expect(await load()).toMatchObject({ port: 2, configFile: inData })
    const inWorkingFolder = write('sluice.yaml', 'port: 1')
    expect(await load()).toMatchObject({ port: 1, configFile: inWorkingFolder })
  })

  test('a named file is the only one that is read', async () => {
    write('sluice.yaml', 'port: 1')
    write('other.json', '{"port": 9}')
    expect((await load({ environment: { SLUICE_CONFIG: 'other.json' } })).port).toBe(9)
    expect((await load({ flags: { config: join(folder, 'other.json') } })).port).toBe(9)
  })

  test('providers are handed on as they came, empty files say nothing', async () => {
    write('sluice.yaml', 'providers:\n  - slug: lab\n    api_key: ${LAB_KEY}\n')
    expect((await load()).providers).toEqual([{ slug: 'lab', api_key: '${LAB_KEY}' }])
    write('sluice.yaml', '# nothing yet\n')
    expect((await load()).providers).toEqual([])
  })

  const BOMB = [
    'a: &a [x, x, x, x, x, x, x, x, x]',
    ...['b', 'c', 'd', 'e', 'f'].map(
      (name, index) => `${name}: &${name} [${Array(9).fill(`*${'abcde'[index]}`).join(', ')}]`,
    ),
  ].join('\n')
  const broken: [what: string, content: string, says: RegExp][] = [
    ['unclosed list', 'port: 1\nhost: [a\nfoo: b\n', /is not valid YAML: .*, in line 3, column \d/],
    ['bad JSON', '{\n"port": 1,\n "x": [1,\n "b": 2}\n', /is not valid YAML: .*, in line [45], column \d/],
    ['a key twice within an entry', 'providers:\n  - slug: a\n    slug: b\n', /twice, in line 3, column 5/],
    ['an alias without an anchor', 'host: *a\n', /has an alias without an anchor, or too many aliases/],
    ['aliases that multiply', BOMB, /has an alias without an anchor, or too many aliases/],
    ['a wrong value below', '# first\n\nhost: "a b"\n', /host in .*sluice\.yaml, line 3\) must be/],
    ['a list', '- port: 1\n', /must hold settings as `name: value`/],
    ['two documents', 'port: 1\n---\nport: 2\n', /must be one document, in line 2, column 1/],
    ['a key twice', 'port: 1\nproviders: []\nport: 2\n', /a key is there twice, in line 3, column 1/],
    ['an unknown key', 'prot: 1\n', /prot in .*sluice\.yaml, line 1 is not a setting; did you mean port\?/],
    ['a variable as key', 'SLUICE_PORT: 1\n', /SLUICE_PORT in .* is not a setting; did you mean port\?/],
    ['a reserved key', 'database_url: x\n', /database_url in .* is reserved and not supported yet/],
    ['providers no list', 'providers: { slug: lab }\n', /providers in .* must be a list/],
    [
      'a wrong value',
      'port: many\n',
      /SLUICE_PORT \(port in .*sluice\.yaml, line 1\) must be a whole number/,
    ],
  ]
  test.each(broken)('%s', async (_what, content, says) => {
    write('sluice.yaml', content)
    expect((await problemsOf({})).join('\n')).toMatch(says)
  })

  test('a named file that is missing is an error', async () => {
    const problems = await problemsOf({ environment: { SLUICE_CONFIG: 'absent.yaml' } })
    expect(problems).toEqual([
      `SLUICE_CONFIG: ${join(folder, 'absent.yaml')} cannot be read: there is no such file`,
    ])
  })

  test('a syntax error does not quote the file, which may hold secrets', async () => {
    const broken = [
      'api_key: hunter2: hunter2',
      'api_key: "hunter2',
      'api_key: "\\qhunter2"',
      'api_key: *hunter2',
      'api_key: !hunter2 [',
      'port: 1\nhunter2\nhost: x',
      'port: 1\n}hunter2',
      'api_key: `hunter2`',
      'hunter2: &hunter2 hunter2: *hunter2',
    ]
    for (const content of broken) {
      write('sluice.yaml', content)
      const problems = (await problemsOf({})).join('\n')
      expect(problems).toMatch(/is not valid YAML|alias/)
      expect(problems).not.toContain('hunter2')
    }
  })

  test('a problem with an entry has its line', async () => {
    write('sluice.yaml', 'port: 1\nproviders:\n  - slug: lab\n\n    dialect: what\n')
    const entryProblems = () => [
      'providers[0].dialect must be known',
      'providers[0].base_url is missing',
      'OPENAI is odd',
    ]
    expect(await problemsOf({ entryProblems })).toEqual([
      'providers[0].dialect (line 5) must be known',
      'providers[0].base_url (line 3) is missing',
      'OPENAI is odd',
    ])
  })

  test('merge keys and anchors work', async () => {
    write('sluice.yaml', 'providers:\n  - &lab { slug: lab, dialect: chat }\n  - { <<: *lab, slug: other }\n')
    expect((await load()).providers).toEqual([
      { slug: 'lab', dialect: 'chat' },
      { slug: 'other', dialect: 'chat' },
    ])
  })
})

describe('values', () => {
  const refused: [variable: string, value: string, says: RegExp][] = [
    ['SLUICE_HOST', '999.1.1.1', /must be an IP address or a host name, not "999\.1\.1\.1"/],
    ['SLUICE_HOST', 'a b', /must be an IP address/],
    ['SLUICE_PORT', '70000', /must be a whole number from 0 to 65535, not "70000"/],
    ['SLUICE_PORT', '-1', /whole number/],
    ['SLUICE_PORT', '1e3', /whole number/],
    ['SLUICE_STALL_TIMEOUT_MS', '0', /whole number of milliseconds from 1/],
    ['SLUICE_SHUTDOWN_GRACE_MS', '5s', /whole number of milliseconds/],
    ['SLUICE_PUBLIC_URL', 'ftp://x', /must be an http or https address/],
    ['SLUICE_PUBLIC_URL', 'https://user:pass@x', /without user/],
    ['SLUICE_BASE_PATH', 'sluice', /must be a path such as \/sluice/],
    ['SLUICE_BASE_PATH', '/a/../b', /must be a path/],
    ['SLUICE_BASE_PATH', '/a//b', /must be a path/],
    ['SLUICE_TRUSTED_PROXIES', '10.0.0.0/8,ten', /"ten" is not one/],
    ['SLUICE_TRUSTED_PROXIES', '10.0.0.0/64', /is not one/],
    ['SLUICE_OUTBOUND_ALLOW', 'http://x/', /is not one/],
    ['SLUICE_CORS_ORIGINS', 'https://a.example/path', /is not one/],
    ['SLUICE_CORS_ORIGINS', 'https://*.example', /is not one/],
    ['SLUICE_CORS_ORIGINS', 'a.example', /is not one/],
    ['SLUICE_LOG_LEVEL', 'loud', /must be one of trace, debug, info, warn, error, fatal, not "loud"/],
    ['SLUICE_DISCOVER', 'maybe', /must be on or off/],
    ['SLUICE_UNPRICED', 'free', /must be refuse, or USD per token/],
    ['SLUICE_UNPRICED', '1e-6', /must be refuse/],
    ['SLUICE_UNPRICED', '1,2,3', /must be refuse/],
    ['SLUICE_SECRET_KEY', 'short', /must be 32 random bytes/],
    ['SLUICE_MANAGEMENT_KEY', 'x'.repeat(31), /must be 32 to 512 visible ASCII/],
    ['SLUICE_API_KEY', `${'x'.repeat(31)} x`, /must be 32 to 512 visible ASCII/],
    ['SLUICE_ADMIN_EMAIL', 'nobody', /must be an e-mail address/],
    ['SLUICE_OIDC_ISSUER', 'id.example.org', /must be an http or https address/],
    ['SLUICE_OIDC_SCOPES', 'email profile', /must be scopes separated by spaces, openid among them/],
    ['SLUICE_ADMIN_PASSWORD', 'short', /must have 12 to 256 characters/],
    ['SLUICE_DATABASE_URL', 'postgres://x', /is reserved and not supported yet/],
    ['SLUICE_VALKEY_URL', 'redis://x', /is reserved and not supported yet/],
  ]
  test.each(refused)('%s=%s is refused', async (variable, value, says) => {
    const [problem = ''] = await problemsOf({ environment: { [variable]: value } })
    expect(problem).toStartWith(variable)
    expect(problem).toMatch(says)
  })

  test('all problems come at once', async () => {
    write('sluice.yaml', 'colour: red\n')
    const problems = await problemsOf({
      flags: { port: 'x' },
      environment: { SLUICE_HOST: '!', SLUICE_VALKEY_URL: 'y', SLUICE_API_KEY: 'z' },
    })
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual(
      ['--port', 'SLUICE_API_KEY', 'SLUICE_HOST', 'SLUICE_VALKEY_URL', 'colour'].sort(),
    )
  })

  test('no secret is ever repeated', async () => {
    const secret = 'do-not-show-me'
    const problems = await problemsOf({
      environment: {
        SLUICE_SECRET_KEY: secret,
        SLUICE_MANAGEMENT_KEY: secret,
        SLUICE_API_KEY: secret,
        SLUICE_ADMIN_PASSWORD: 'show-me-not',
        SLUICE_DATABASE_URL: `postgres://u:${secret}@h/d`,
        SLUICE_PUBLIC_URL: `https://u:${secret}@h`,
      },
    })
    expect(problems.length).toBeGreaterThanOrEqual(6)
    expect(problems.join('\n')).not.toMatch(/do-not-show-me|show-me-not/)
  })

  test('the secret key in each of its spellings', async () => {
    const bytes = Uint8Array.from({ length: 32 }, (_, index) => 255 - index)
    const buffer = Buffer.from(bytes)
    for (const spelling of [
      buffer.toString('hex'),
      buffer.toString('hex').toUpperCase(),
      buffer.toString('base64'),
      buffer.toString('base64url'),
    ]) {
      expect((await load({ environment: { SLUICE_SECRET_KEY: spelling } })).secretKey).toEqual(bytes)
    }
  })

  test('the two bootstrap keys must differ; a password needs an address', async () => {
    expect(
      await problemsOf({
        environment: {
          SLUICE_API_KEY: key('k'),
          SLUICE_MANAGEMENT_KEY: key('k'),
          SLUICE_ADMIN_PASSWORD: 'x'.repeat(12),
        },
      }),
    ).toEqual([
      'SLUICE_MANAGEMENT_KEY and SLUICE_API_KEY must differ: one is for administration, the second for inference',
      'SLUICE_ADMIN_PASSWORD needs SLUICE_ADMIN_EMAIL too',
    ])
  })

  test('one price for unpriced models holds for prompt and completion; 0 is a price', async () => {
    const unpriced = async (value: string) =>
      (await load({ environment: { SLUICE_UNPRICED: value } })).unpriced
    expect(await unpriced('0.000002')).toEqual({ prompt: 2_000_000_000_000n, completion: 2_000_000_000_000n })
    expect(await unpriced('0')).toEqual({ prompt: 0n, completion: 0n })
  })

  test('a misspelt variable is a warning that names the nearest', async () => {
    const { warnings } = await load({ environment: { SLUICE_PROT: '1', SLUICE_ZZZZZZZZZ: '1', OTHER: 'x' } })
    expect(warnings).toEqual([
      'SLUICE_PROT is not a setting and was ignored; did you mean SLUICE_PORT?',
      'SLUICE_ZZZZZZZZZ is not a setting and was ignored',
    ])
  })
})

describe('listening beyond this machine', () => {
  const all = {
    SLUICE_SECRET_KEY: 'ab'.repeat(32),
    SLUICE_MANAGEMENT_KEY: key('m'),
    SLUICE_API_KEY: key('a'),
  }
  const exposure = async (environment: Record<string, string>, hasKeys = false) =>
    exposureProblem(await load({ environment: { SLUICE_HOST: '0.0.0.0', ...environment } }), hasKeys)

  test.each(['127.0.0.1', '127.8.9.1', '::1', '[::1]', 'localhost', '::ffff:127.0.0.1'])(
    '%s is this machine',
    async (host) => {
      expect(await exposure({ SLUICE_HOST: host })).toBeNull()
    },
  )
  test.each(['0.0.0.0', '::', '10.1.2.3', 'gateway.example.org', '::ffff:10.0.0.1'])(
    '%s is not',
    async (host) => {
      const problem = await exposure({ SLUICE_HOST: host })
      expect(problem).toContain('SLUICE_SECRET_KEY, SLUICE_MANAGEMENT_KEY, SLUICE_API_KEY must be set')
      expect(problem).toContain('openssl rand -hex 32')
    },
  )
  test('it names what is missing alone', async () => {
    expect(await exposure({ SLUICE_SECRET_KEY: all.SLUICE_SECRET_KEY })).toContain(
      'so SLUICE_MANAGEMENT_KEY, SLUICE_API_KEY must',
    )
    expect(await exposure(all)).toBeNull()
  })
  test('what a former start has left is enough', async () => {
    expect(await exposure({}, true)).toContain('so SLUICE_SECRET_KEY must')
    mkdirSync(join(folder, 'sluice-data'))
    chmodSync(write('sluice-data/secret.key', 'x'), 0o600)
    expect(await exposure({}, true)).toBeNull()
  })
})

describe('docs/providers.md', () => {
  test('its example entry is a valid one', async () => {
    const page = await Bun.file(join(import.meta.dir, '../docs/providers.md')).text()
    const [, entry = ''] = /```yaml\n([\s\S]*?)```/.exec(page) ?? []
    write('sluice.yaml', entry)
    const { providers, environment } = await load({ environment: { LAB_KEY: 'k' } })
    const read = readEntries(providers, environment, {
      timeouts: { firstByteMs: 1, betweenBytesMs: 1, totalMs: 1 },
      maxInFlight: 1,
    })
    expect(read.problems).toEqual([])
    expect(read.models.map(({ endpoint }) => endpoint.id)).toEqual(['lab/tiny'])
  })
})
