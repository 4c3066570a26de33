import { describe, expect, test } from 'bun:test'
import { chmodSync, mkdirSync } from 'node:fs'
import { exposureProblem } from '../../src/config/exposure.ts'
import { keyOf, openSources } from './sources.ts'

const { load, path, write } = openSources()

describe('listening beyond this machine', () => {
  const all = {
    SLUICE_SECRET_KEY: 'ab'.repeat(32),
    SLUICE_MANAGEMENT_KEY: keyOf('m'),
    SLUICE_API_KEY: keyOf('a'),
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
    '%s is another machine',
    async (host) => {
      const problem = await exposure({ SLUICE_HOST: host })
      expect(problem).toContain('SLUICE_SECRET_KEY, SLUICE_MANAGEMENT_KEY, SLUICE_API_KEY must be set')
      expect(problem).toContain('openssl rand -hex 32')
    },
  )
  test('the problem names only the missing settings', async () => {
    expect(await exposure({ SLUICE_SECRET_KEY: all.SLUICE_SECRET_KEY })).toContain(
      'so SLUICE_MANAGEMENT_KEY, SLUICE_API_KEY must',
    )
    expect(await exposure(all)).toBeNull()
  })
  test('keys and the secret key of an earlier start are sufficient', async () => {
    expect(await exposure({}, true)).toContain('so SLUICE_SECRET_KEY must')
    mkdirSync(path('sluice-data'))
    chmodSync(write('sluice-data/secret.key', 'x'), 0o600)
    expect(await exposure({}, true)).toBeNull()
  })
})
