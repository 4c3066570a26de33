import { describe, expect, test } from 'bun:test'
import { keyOf, openSources } from './sources.ts'

const { load, problemsOf, write } = openSources()

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
  test.each(refused)('%s=%s is rejected', async (variable, value, says) => {
    const [problem = ''] = await problemsOf({ environment: { [variable]: value } })
    expect(problem).toStartWith(variable)
    expect(problem).toMatch(says)
  })

  test('all problems are reported together', async () => {
    write('sluice.yaml', 'colour: red\n')
    const problems = await problemsOf({
      flags: { port: 'x' },
      environment: { SLUICE_HOST: '!', SLUICE_VALKEY_URL: 'y', SLUICE_API_KEY: 'z' },
    })
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual(
      ['--port', 'SLUICE_API_KEY', 'SLUICE_HOST', 'SLUICE_VALKEY_URL', 'colour'].sort(),
    )
  })

  test('no message contains a secret', async () => {
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

  test('the secret key can be hex, base64 or base64url', async () => {
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
          SLUICE_API_KEY: keyOf('k'),
          SLUICE_MANAGEMENT_KEY: keyOf('k'),
          SLUICE_ADMIN_PASSWORD: 'x'.repeat(12),
        },
      }),
    ).toEqual([
      'SLUICE_MANAGEMENT_KEY and SLUICE_API_KEY must differ: one is for administration, the second for inference',
      'SLUICE_ADMIN_PASSWORD needs SLUICE_ADMIN_EMAIL too',
    ])
  })

  test('one price for unpriced models is for prompt and completion; 0 is a price', async () => {
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
