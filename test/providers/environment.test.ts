import { describe, expect, test } from 'bun:test'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from './defaults.ts'

const slugs = (environment: Record<string, string>): string[] =>
  environmentProviders(environment, defaults).providers.map((provider) => provider.slug)

describe('credentials in the environment', () => {
  test('configure only their vendor, and are trimmed', () => {
    const { providers, problems } = environmentProviders(
      { OPENAI_API_KEY: ' sk-1\n', HOME: '/root' },
      defaults,
    )
    expect(problems).toEqual([])
    expect(providers).toHaveLength(1)
    expect(providers[0]).toMatchObject({
      slug: 'openai',
      name: 'OpenAI',
      kind: 'compatible',
      dialect: 'chat',
      baseUrl: 'https://api.openai.com/v1',
      credentials: [{ id: 'OPENAI_API_KEY', secret: 'sk-1' }],
      timeouts: defaults.timeouts,
      maxInFlight: defaults.maxInFlight,
      isLocal: false,
    })
  })

  test.each([
    ['none', {}, []],
    ['blank ones', { OPENAI_API_KEY: '', GROQ_API_KEY: '  ' }, []],
    ['either of two names', { GOOGLE_API_KEY: 'a' }, ['google']],
    ['both of two names', { GEMINI_API_KEY: 'a', GOOGLE_API_KEY: 'b' }, ['google']],
    ['a blank usual name and a set other one', { GEMINI_API_KEY: ' ', GOOGLE_API_KEY: 'b' }, ['google']],
    ['an address alone', { OPENAI_BASE_URL: 'https://example.com/v1' }, []],
    ['several', { GROQ_API_KEY: 'a', ANTHROPIC_API_KEY: 'b' }, ['anthropic', 'groq']],
    ['a vendor whose account is not named', { CLOUDFLARE_API_KEY: 'a' }, []],
    [
      'a vendor whose account is named',
      { CLOUDFLARE_API_KEY: 'a', CLOUDFLARE_ACCOUNT_ID: 'b' },
      ['cloudflare'],
    ],
  ])('%s', (_, environment, expected) => {
    expect(slugs(environment).sort()).toEqual(expected)
  })

  test('the usual name wins', () => {
    const { providers } = environmentProviders(
      { GEMINI_API_KEY: 'first', GOOGLE_API_KEY: 'second' },
      defaults,
    )
    expect(providers[0]?.credentials).toEqual([{ id: 'GEMINI_API_KEY', secret: 'first' }])
  })
})

describe('<PREFIX>_BASE_URL', () => {
  test.each([
    ['OPENAI_API_KEY', 'OPENAI_BASE_URL', 'http://127.0.0.1:9000/v1', 'http://127.0.0.1:9000/v1'],
    [
      'OPENAI_API_KEY',
      'OPENAI_BASE_URL',
      ' https://proxy.example/openai/v1// ',
      'https://proxy.example/openai/v1',
    ],
    ['HF_TOKEN', 'HF_BASE_URL', 'http://localhost:1', 'http://localhost:1'],
    // As for Anthropic's own SDK, and as for every other vendor.
    ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'https://api.anthropic.com', 'https://api.anthropic.com/v1'],
    ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'http://localhost:1/', 'http://localhost:1/v1'],
    ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL', 'http://localhost:1/proxy/v1', 'http://localhost:1/proxy/v1'],
    ['CLARIFAI_PAT', 'CLARIFAI_BASE_URL', 'http://localhost:1/x', 'http://localhost:1/x'],
    ['CLOUDFLARE_API_KEY', 'CLOUDFLARE_BASE_URL', 'https://gateway.example/v1', 'https://gateway.example/v1'],
    ['OPENAI_API_KEY', 'OPENAI_BASE_URL', ' ', 'https://api.openai.com/v1'],
  ])('%s with %s=%s', (key, variable, value, expected) => {
    const { providers, problems } = environmentProviders({ [key]: 'k', [variable]: value }, defaults)
    expect(problems).toEqual([])
    expect(providers[0]?.baseUrl).toBe(expected)
  })

  test.each([
    ['OPENAI', undefined, ['responses']],
    ['OPENAI', 'https://eu.api.openai.com/v1', ['responses']],
    // At another base URL is another server, which may speak only chat.
    ['OPENAI', 'https://proxy.example/v1', undefined],
    ['OPENAI', 'https://api.openai.com.evil.example/v1', undefined],
    ['XAI', undefined, ['responses']],
    ['OPENROUTER', undefined, ['responses']],
    ['GROQ', undefined, undefined],
  ] as const)('%s at %p also speaks %p', (prefix, address, dialects) => {
    const { providers } = environmentProviders(
      { [`${prefix}_API_KEY`]: 'k', [`${prefix}_BASE_URL`]: address },
      defaults,
    )
    expect(providers[0]?.dialect).toBe('chat')
    expect(providers[0]?.alsoSpeaks).toEqual(dialects)
  })

  test.each([
    ['not-a-url'],
    ['ftp://files.example/v1'],
    ['https://user:hunter2@proxy.example/v1'],
    ['https://proxy.example/v1?key=hunter2'],
    ['https://proxy.example/v1#hunter2'],
    ['//hunter2.example/v1'],
  ])('%s is a problem that names the variable and does not repeat the value', (value) => {
    const { providers, problems } = environmentProviders(
      { GROQ_API_KEY: 'k', GROQ_BASE_URL: value },
      defaults,
    )
    expect(providers).toEqual([])
    expect(problems.map(({ path }) => path)).toEqual(['GROQ_BASE_URL'])
    expect(problems[0]?.message).not.toContain('hunter2')
    expect(problems[0]?.message).not.toContain(value)
  })

  test('a part of an address that could lead to another host is a problem', () => {
    for (const account of ['evil.example/..', 'a/../../b', '..', 'user@evil', 'x#', 'a b']) {
      const { providers, problems } = environmentProviders(
        { SNOWFLAKE_CORTEX_PAT: 'k', SNOWFLAKE_ACCOUNT: account },
        defaults,
      )
      expect(providers).toEqual([])
      expect(problems.map(({ path }) => path)).toEqual(['SNOWFLAKE_ACCOUNT'])
    }
  })

  test("a host may be an address, as in Databricks' own tools", () => {
    const hosts = ['dbc-1.example', 'https://dbc-1.example', 'https://dbc-1.example/']
    for (const host of hosts) {
      const { providers } = environmentProviders({ DATABRICKS_TOKEN: 'k', DATABRICKS_HOST: host }, defaults)
      expect(providers.map(({ baseUrl }) => baseUrl)).toEqual(['https://dbc-1.example/ai-gateway/mlflow/v1'])
    }
    for (const host of [
      'http://dbc-1.example',
      'https://dbc-1.example/x',
      'https://u@dbc-1.example',
      'https://',
    ]) {
      const { problems } = environmentProviders({ DATABRICKS_TOKEN: 'k', DATABRICKS_HOST: host }, defaults)
      expect(problems.map(({ path }) => path)).toEqual(['DATABRICKS_HOST'])
    }
  })

  test('a credential that no header can carry is a problem without the credential', () => {
    const { problems } = environmentProviders({ OPENAI_API_KEY: 'sk-secret\r\nx-evil: 1' }, defaults)
    expect(problems.map(({ path }) => path)).toEqual(['OPENAI_API_KEY'])
    expect(JSON.stringify(problems)).not.toContain('sk-secret')
  })
})
