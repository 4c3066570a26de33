import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeVerified } from '../verified.ts'
import { BOOTSTRAP, type Served, sluice, startServer } from './process.ts'

describe('keys, through a running server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-keys-'))
  let server: Served
  let env: Record<string, string>
  beforeAll(async () => {
    server = await startServer(folder, { env: BOOTSTRAP })
    env = { SLUICE_URL: server.url, SLUICE_KEY: BOOTSTRAP.SLUICE_MANAGEMENT_KEY }
  })
  afterAll(async () => {
    await server.stop()
    removeVerified(folder)
  })

  const infer = async (key: string): Promise<number> => {
    const answer = await fetch(`${server.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'sluice/demo', messages: [{ role: 'user', content: 'Hello' }] }),
    })
    await answer.text()
    return answer.status
  }
  const list = async (): Promise<Record<string, unknown>[]> => {
    const { stdout } = await sluice(['keys', 'list', '--json'], { env })
    return JSON.parse(stdout).data
  }
  const named = async (name: string) => (await list()).filter((key) => key['name'] === name)

  test('create prints the key alone on stdout, and it works', async () => {
    const made = await sluice(
      ['keys', 'create', 'alone', '--limit', '5', '--reset', 'monthly', '--expires', '90d'],
      { env },
    )
    expect(made.exitCode).toBe(0)
    expect(made.stdout).toMatch(/^sk-sl-v1-\w+\n$/)
    expect(made.stderr).toContain('Created alone, limit $5.00 monthly')
    expect(await infer(made.stdout.trim())).toBe(200)
    const [key] = await named('alone')
    expect(key).toMatchObject({ limit: 5, limit_reset: 'monthly', disabled: false })
    const days = (Date.parse(String(key?.['expires_at'])) - Date.now()) / 86_400_000
    expect(Math.round(days)).toBe(90)
  })

  test('list shows name, label and state, and no key', async () => {
    const made = await sluice(['keys', 'create', 'listed'], { env })
    const { stdout, exitCode } = await sluice(['keys', 'list'], { env })
    expect(exitCode).toBe(0)
    expect(stdout).toMatch(/^NAME +LABEL +HASH +USED +LIMIT +RESET +STATE$/m)
    expect(stdout).toMatch(/^listed +sk-sl-v1-\S+ +[0-9a-f]{12} +\$0\.00 +- +enabled$/m)
    expect(stdout).not.toContain(made.stdout.trim())
  })

  test('disable takes effect for the next request', async () => {
    const key = (await sluice(['keys', 'create', 'doomed'], { env })).stdout.trim()
    expect(await infer(key)).toBe(200)
    const [record] = await named('doomed')
    const disabled = await sluice(['keys', 'disable', String(record?.['hash']).slice(0, 10)], { env })
    expect(disabled).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('Disabled doomed') })
    expect(await infer(key)).toBe(401)
  })

  test('rotate makes a successor with the same settings and disables the old key', async () => {
    const old = (
      await sluice(['keys', 'create', 'turning', '--limit', '2.5', '--reset', 'weekly'], { env })
    ).stdout.trim()
    const rate_limits = {
      requests_per_minute: 50,
      tokens_per_minute: null,
      concurrent_requests: 4,
      models: [],
    }
    const [made] = await named('turning')
    const patched = await fetch(`${server.url}/v1/keys/${made?.['hash']}`, {
      method: 'PATCH',
      headers: { authorization: `Bearer ${env.SLUICE_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ rate_limits }),
    })
    expect(patched.status).toBe(200)
    const rotated = await sluice(['keys', 'rotate', 'turning'], { env })
    expect(rotated.exitCode).toBe(0)
    expect(rotated.stdout).toMatch(/^sk-sl-v1-\w+\n$/)
    expect(rotated.stderr).toContain(`The old key ${made?.['label']} is disabled`)
    const key = rotated.stdout.trim()
    expect(await infer(key)).toBe(200)
    expect(await infer(old)).toBe(401)
    const both = (await named('turning')).map(({ disabled, limit, limit_reset, rate_limits: rates }) => ({
      disabled,
      limit,
      limit_reset,
      rate_limits: rates,
    }))
    const settings = { limit: 2.5, limit_reset: 'weekly', rate_limits }
    expect(both).toEqual(
      expect.arrayContaining([
        { disabled: true, ...settings },
        { disabled: false, ...settings },
      ]),
    )
    expect(both).toHaveLength(2)
    // Two keys bear the name now; the one in use is meant, so that rotating by name works every month.
    const again = await sluice(['keys', 'rotate', 'turning'], { env })
    expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^sk-sl-v1-/) })
    expect(await infer(key)).toBe(401)
    expect((await sluice(['keys', 'create', 'turning'], { env })).exitCode).toBe(0)
    expect(await sluice(['keys', 'disable', 'turning'], { env })).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('keys are called turning'),
    })
  })

  test('a management key cannot be reached; an unknown and a wrong key are distinguished', async () => {
    const ownHash = new Bun.CryptoHasher('sha256').update(BOOTSTRAP.SLUICE_MANAGEMENT_KEY).digest('hex')
    expect((await sluice(['keys', 'disable', ownHash], { env })).exitCode).toBe(3)
    expect((await sluice(['keys', 'disable', 'nobody'], { env })).exitCode).toBe(3)
    expect((await sluice(['keys', 'disable', 'f'.repeat(64)], { env })).exitCode).toBe(3)
    const inference = { ...env, SLUICE_KEY: BOOTSTRAP.SLUICE_API_KEY }
    expect(await sluice(['keys', 'list'], { env: inference })).toMatchObject({
      exitCode: 4,
      stderr: expect.stringMatching(/management/i),
    })
    expect((await sluice(['keys', 'list'], { env: { ...env, SLUICE_KEY: 'x'.repeat(40) } })).exitCode).toBe(4)
  })

  test('SLUICE_URL may name the API itself', async () => {
    const api = { ...env, SLUICE_URL: `${server.url}/api/v1` }
    expect((await sluice(['keys', 'list'], { env: api })).exitCode).toBe(0)
  })

  test('status, doctor and verify beside the running server', async () => {
    expect((await sluice([], { env })).stdout).toBe(`Sluice at ${server.url} is ready\n`)
    const doctor = await sluice(['doctor', '--data', folder], {
      env: { ...BOOTSTRAP, SLUICE_PORT: new URL(server.url).port },
    })
    expect(doctor.stdout).toContain('a Sluice is running at 127.0.0.1')
    expect(doctor.stdout).toContain('No problem was found')
    const verified = await sluice(['verify', folder])
    expect(verified.exitCode).toBe(0)
    expect(verified.stdout.trim().split('\n').at(-1)).toContain('everything agrees to the nano-dollar')
    expect(JSON.parse((await sluice(['verify', folder, '--json'])).stdout)).toMatchObject({
      ok: true,
      differences: [],
    })
  })
})
