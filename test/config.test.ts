import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { settings } from '../src/config.ts'
import { readEntries } from '../src/providers/entries.ts'
import { keyOf, openSources } from './config/sources.ts'

const { load, path, write } = openSources()

describe('where a value comes from', () => {
  test('without any source: the defaults, and an absolute data folder', async () => {
    const config = await load()
    expect(config).toMatchObject({
      host: '127.0.0.1',
      port: 4141,
      data: path('sluice-data'),
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

  test('a flag takes precedence over the environment, the environment over the file', async () => {
    write('sluice.yaml', 'port: 1\nlog_level: warn\nstall_timeout_ms: 7\n')
    const config = await load({
      flags: { port: '3' },
      environment: { SLUICE_PORT: '2', SLUICE_LOG_LEVEL: 'error' },
    })
    expect([config.port, config.logLevel, config.stallTimeoutMs]).toEqual([3, 'error', 7])
  })

  test('an empty variable is ignored', async () => {
    expect((await load({ environment: { SLUICE_PORT: '', SLUICE_CONFIG: '' } })).port).toBe(4141)
  })

  test('the file can have every setting under its own name', async () => {
    const inFile: Record<string, unknown> = {
      host: '::1',
      port: 5000,
      data: 'elsewhere',
      metrics_token: keyOf('t'),
      metrics_port: 9464,
      metrics_keys: 'on',
      metrics_series: 1000,
      public_url: 'https://ai.example.org/',
      base_path: '/sluice/',
      trusted_proxies: ['10.0.0.0/8', '::1'],
      secret_key: 'ab'.repeat(32),
      management_key: keyOf('m'),
      api_key: keyOf('a'),
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
      hedge_ms: 800,
      max_in_flight: 20_000,
      bodies_in_flight_mb: 64,
      outbound_allow: ['Intra.example.org', '*.lab.example', '192.168.0.0/16'],
      cors_origins: ['https://App.example.org/', 'http://localhost:5173'],
      discover: false,
      exa_api_key: 'exa-key',
      parallel_api_key: 'parallel-key',
      perplexity_api_key: 'perplexity-key',
      tavily_api_key: 'tavily-key',
      brave_api_key: 'brave-key',
      firecrawl_api_key: 'firecrawl-key',
      searxng_url: 'http://10.0.0.8:8080/',
      search_urls: ['firecrawl=http://10.0.0.7:3002/'],
      search_prices: 'exa=0.006+0.0009, brave = 0.003',
      fetch_robots: 'off',
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
      export_max_age_hours: 24,
      export_max_mb: 64,
      otlp_endpoint: 'http://10.0.0.9:4318/',
      otlp_headers: { 'X-Team': 'a' },
      otlp_protocol: 'http/json',
      otlp_sampling: 0.5,
      tool_steps: 5,
      ocr_model: 'lab/eyes',
      embedding_model: 'lab/vectors',
      tool_call_seconds: 10,
      tool_seconds: 60,
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
      data: path('elsewhere'),
      publicUrl: 'https://ai.example.org',
      basePath: '/sluice',
      trustedProxies: ['10.0.0.0/8', '::1/128'],
      secretKey: new Uint8Array(32).fill(0xab),
      managementKey: keyOf('m'),
      apiKey: keyOf('a'),
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
      hedgeMs: 800,
      maxInFlight: 20_000,
      bodiesInFlightMb: 64,
      outboundAllow: ['intra.example.org', '*.lab.example', '192.168.0.0/16'],
      discover: false,
      exaApiKey: 'exa-key',
      braveApiKey: 'brave-key',
      searxngUrl: 'http://10.0.0.8:8080',
      searchUrls: ['firecrawl=http://10.0.0.7:3002'],
      searchPrices: ['exa=0.006+0.0009', 'brave=0.003'],
      fetchRobots: false,
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

describe('docs/providers.md', () => {
  test('the example entry is valid', async () => {
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
