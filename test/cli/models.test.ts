import { afterAll, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { document, factModel } from '../catalog/facts-fixture.ts'
import { BOOTSTRAP, inFolder, killServers, sluice, startServer } from './process.ts'

const facts = document({
  openai: [
    factModel('gpt-4o', { cost: { input: 1, output: 2 } }),
    factModel('gpt-9', { cost: { input: 90_000, output: 2 } }),
  ],
})

afterAll(killServers)

describe('sluice models refresh', () => {
  test('in a data folder: shows, asks for --yes, takes over, and says so when nothing differs', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'api.json')
      writeFileSync(file, JSON.stringify(facts))
      const refresh = (...more: string[]) =>
        sluice(['models', 'refresh', '--data', join(folder, 'data'), '--from', file, ...more])

      const asked = await refresh()
      expect(asked.exitCode).toBe(2)
      expect(asked.stderr).toContain('Nothing was changed: --yes applies the changes')
      expect(asked.stdout).toContain('+ openai/gpt-9 at openai\n')
      expect(asked.stdout).toMatch(/^\$ openai\/gpt-4o at openai: prompt 0\.0000025 → 0\.000001, /m)
      expect(asked.stdout).toMatch(
        /^! openai\/gpt-9 at openai: prompt 0\.09 USD a token is \d+ times the median/m,
      )
      expect(asked.stdout).toMatch(/\d+ removed, 1 prices changed, \d+ changed otherwise, 1 warnings$/m)

      const done = await refresh('--yes')
      expect({ exitCode: done.exitCode, stderr: done.stderr }).toEqual({ exitCode: 0, stderr: '' })
      expect(done.stdout).toContain('Applied: 1 added')
      // A server that starts later, without a network, has them.
      const server = await startServer(join(folder, 'data'), { env: { ...BOOTSTRAP, OPENAI_API_KEY: 'k' } })
      const authorization = `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`
      const found = await fetch(`${server.url}/api/v1/model/openai/gpt-9`, { headers: { authorization } })
      expect(found.status).toBe(200)
      expect(await server.stop()).toBe(0)

      const again = await refresh('--yes')
      expect(again.stdout).toContain('nothing differs from what is in use')

      const back = await sluice([
        'models',
        'refresh',
        '--data',
        join(folder, 'data'),
        '--from',
        'built-in',
        '--yes',
        '--json',
      ])
      expect(JSON.parse(back.stdout)).toMatchObject({
        data: { applied: true, removed: [{ provider: 'openai', model: 'openai/gpt-9' }] },
      })
    }))

  test('from a URL of this machine', () =>
    inFolder(async (folder) => {
      const mirror = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(facts) })
      const down = Bun.serve({
        hostname: '127.0.0.1',
        port: 0,
        fetch: () => new Response('', { status: 500 }),
      })
      const from = `http://127.0.0.1:${mirror.port}/api.json`
      const data = join(folder, 'data')
      try {
        const named = await sluice(['models', 'refresh', '--data', data, '--from', from, '--dry-run'])
        expect({ exitCode: named.exitCode, stderr: named.stderr }).toEqual({ exitCode: 0, stderr: '' })
        expect(named.stdout).toContain('+ openai/gpt-9 at openai\n')
        const env = { SLUICE_MODELS_URL: from }
        const usual = await sluice(['models', 'refresh', '--data', data, '--yes'], { env })
        expect(usual.stdout).toContain(`from ${from}`)
        const failed = await sluice([
          'models',
          'refresh',
          '--data',
          data,
          '--from',
          `http://127.0.0.1:${down.port}/api.json`,
        ])
        expect({ code: failed.exitCode, printed: failed.stderr }).toMatchObject({
          code: 1,
          printed: expect.stringContaining('answers with HTTP 500'),
        })
      } finally {
        await mirror.stop(true)
        await down.stop(true)
      }
    }))

  test('a malformed document changes nothing', () =>
    inFolder(async (folder) => {
      const file = join(folder, 'api.json')
      const refresh = () => sluice(['models', 'refresh', '--data', folder, '--from', file, '--yes'])
      expect(await refresh()).toMatchObject({ exitCode: 2, stdout: '' })
      writeFileSync(file, '{"openai":')
      expect((await refresh()).stderr).toContain('cannot be read: it is not JSON')
      writeFileSync(file, `${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`)
      expect((await refresh()).stderr).toContain('cannot be read: it is nested deeper than 64 levels')
      writeFileSync(file, '{"openai":{"models":{"m":{"cost":{"input":-1}}}}}')
      const refused = await refresh()
      expect(refused.exitCode).toBe(1)
      expect(refused.stderr).toContain('openai.models["m"].cost.input must be a number of at least 0')
    }))

  test('a running server takes the facts over without a restart', () =>
    inFolder(async (folder) => {
      const server = await startServer(join(folder, 'data'), {
        env: { ...BOOTSTRAP, OPENAI_API_KEY: 'k' },
      })
      const file = join(folder, 'api.json')
      writeFileSync(file, JSON.stringify(facts))
      const env = { SLUICE_URL: server.url, SLUICE_KEY: BOOTSTRAP.SLUICE_MANAGEMENT_KEY }
      const done = await sluice(['models', 'refresh', '--from', file, '--yes'], { env })
      expect({ exitCode: done.exitCode, stderr: done.stderr }).toEqual({ exitCode: 0, stderr: '' })
      const history = await sluice(['models', 'history', 'openai/gpt-4o'], { env })
      expect(history.stdout).toMatch(
        /^PROVIDER +FROM +USD PER TOKEN\nopenai +\S+Z +prompt 0\.0000025, .*\nopenai +\S+Z +prompt 0\.000001, completion 0\.000002, service_tiers .*\n$/,
      )
      const unknown = await sluice(['models', 'history', 'openai/gpt-0'], { env })
      expect({ code: unknown.exitCode, printed: unknown.stderr }).toMatchObject({
        code: 3,
        printed: expect.stringContaining('There is no model "openai/gpt-0"'),
      })
      const set = await sluice(
        [
          'models',
          'set',
          'openai/gpt-4o',
          '--price',
          'prompt=0.000003,completion=0.00001',
          '--alias',
          'best',
        ],
        { env },
      )
      expect({ exitCode: set.exitCode, stderr: set.stderr }).toEqual({ exitCode: 0, stderr: '' })
      const changed = await sluice(['models', 'history', 'openai/gpt-4o'], { env })
      expect(changed.stdout).toMatch(/prompt 0\.000003, completion 0\.00001\n$/)
      const wrong = await sluice(['models', 'set', 'openai/gpt-4o', '--price', 'prompt=-1'], { env })
      expect(wrong).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining('pricing.prompt: "-1" is not a'),
      })
      expect((await sluice(['models', 'unset', 'openai/gpt-4o'], { env })).exitCode).toBe(0)
      expect((await sluice(['models', 'unset', 'openai/gpt-4o'], { env })).exitCode).toBe(3)
      // Without the key it is the folder's business, and the folder is the server's.
      const locked = await sluice(['models', 'refresh', '--data', join(folder, 'data'), '--from', file])
      expect(locked.exitCode).toBe(1)
    }))
})

test('a fact that is declared wrongly stops the start with its line', () =>
  inFolder(async (folder) => {
    writeFileSync(
      join(folder, 'sluice.yaml'),
      `providers:
  - slug: lab
    base_url: http://127.0.0.1:9/v1
    data_policy:
      zdr: always
      retention_days: 30
models:
  - id: openai/gpt-4o
    data_policy: { training: maybe }
`,
    )
    const refused = await sluice(['serve', '--port', '0', '--data', 'data'], { cwd: folder })
    expect(refused.exitCode).toBe(2)
    const [ofProvider = '', ofModel = ''] = refused.stderr.trim().split('\n')
    expect(ofProvider).toStartWith('sluice: providers[0].data_policy.retention_days (line 6) contradicts zdr')
    expect(ofModel).toStartWith('sluice: models[0].data_policy.training (line 9) must be true or false')
  }))

test('problems with the models of the settings are reported together, before anything is created', () =>
  inFolder(async (folder) => {
    writeFileSync(
      join(folder, 'sluice.yaml'),
      'models:\n  - id: openai/gpt-4oo\n    pricing: { prompt: "-1" }\nbenchmarks: nowhere.json\n',
    )
    const refused = await sluice(['serve', '--port', '0', '--data', 'data'], { cwd: folder })
    expect(refused.exitCode).toBe(2)
    const lines = refused.stderr.trim().split('\n')
    expect(lines.length).toBe(3)
    expect(lines[0]).toStartWith('sluice: models[0].pricing.prompt (line 3) "-1" is not a price')
    expect(lines[1]).toStartWith(
      'sluice: models[0].id (line 2) "openai/gpt-4oo" is not known; did you mean openai/gpt-4o',
    )
    expect(lines[2]).toEndWith('nowhere.json cannot be read')
    expect(existsSync(join(folder, 'data'))).toBe(false)
  }))
