import { afterEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { startUpstream, unary } from '../upstream.ts'
import { BOOTSTRAP, inFolder, killServers, sluice, startServer } from './process.ts'

describe('serve', () => {
  afterEach(killServers)

  test('prints two keys on the first run only, which work; SIGTERM ends with 0', async () => {
    await inFolder(async (folder) => {
      const first = await startServer(folder)
      const [, key] = /Bearer (sk-sl-v1-\w+)/.exec(first.stderr()) ?? []
      expect(first.stderr()).toMatch(/sk-sl-mgmt-v1-\w+/)
      const answer = await fetch(`${first.url}/v1/key`, { headers: { authorization: `Bearer ${key}` } })
      expect(answer.status).toBe(200)
      expect(await first.stop()).toBe(0)
      const second = await startServer(folder)
      expect(second.stderr()).not.toContain('sk-sl-')
      expect(await second.stop()).toBe(0)
    })
  })

  test('renews the management key of a stopped server: those made before are refused, one of the settings is not', async () => {
    await inFolder(async (folder) => {
      const status = async (url: string, key: string) =>
        (await fetch(`${url}/api/v1/keys`, { headers: { authorization: `Bearer ${key}` } })).status
      const data = ['--data', folder]
      const server = await startServer(folder)
      const [old = ''] = /sk-sl-mgmt-v1-\w+/.exec(server.stderr()) ?? []
      expect(await status(server.url, old)).toBe(200)
      const held = await sluice(['keys', 'renew-management', ...data])
      expect(held).toMatchObject({ exitCode: 1, stdout: '' })
      await server.stop()

      const renewed = await sluice(['keys', 'renew-management', ...data])
      expect(renewed.exitCode).toBe(0)
      expect(renewed.stdout).toMatch(/^sk-sl-mgmt-v1-\w{49}\n$/)
      expect(renewed.stderr).toContain(
        `Refused from now on: sk-sl-mgmt-v1-${old.slice(14, 17)}...${old.slice(-3)}`,
      )
      const again = await sluice(['keys', 'renew-management', ...data, '--json'])
      const { key, data: renewal } = JSON.parse(again.stdout)
      expect(renewal.disabled).toHaveLength(1)

      const settings = { SLUICE_MANAGEMENT_KEY: BOOTSTRAP.SLUICE_MANAGEMENT_KEY }
      const next = await startServer(folder, { env: settings })
      const log = await fetch(`${next.url}/api/v1/audit-log?action=key.create`, {
        headers: { authorization: `Bearer ${key}` },
      })
      expect((await log.json()).data[0]).toMatchObject({
        actor: { type: 'system', label: 'sluice keys renew-management' },
        after: { kind: 'management', label: renewal.label },
      })
      const keys = [old, renewed.stdout.trim(), key, BOOTSTRAP.SLUICE_MANAGEMENT_KEY]
      expect(await Promise.all(keys.map((one) => status(next.url, one)))).toEqual([401, 401, 200, 200])
      await next.stop()
      const nowhere = await sluice(['keys', 'renew-management', '--data', join(folder, 'none')])
      expect(nowhere).toMatchObject({ exitCode: 3, stdout: '' })
    })
  })

  test('begins again in place, once: same pid, the bound raised, NODE_ENV set', async () => {
    await inFolder(async (folder) => {
      const server = await startServer(folder)
      const environment = await Bun.file(`/proc/${server.pid}/environ`).text()
      expect(environment.split('\0')).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65535')
      expect(environment.split('\0')).toContain('NODE_ENV=production')
      await server.stop()
      const own = await startServer(folder, { env: { BUN_CONFIG_MAX_HTTP_REQUESTS: '512' } })
      expect(await Bun.file(`/proc/${own.pid}/environ`).text()).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=512')
      await own.stop()
    })
  })

  test('continues if its log cannot be written, and still exits with 0', async () => {
    await inFolder(async (folder) => {
      // Every write there fails, as on a full disk.
      const server = await startServer(folder, { env: BOOTSTRAP, log: '/dev/full' })
      for (let request = 0; request < 100; request++) {
        expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
      }
      expect(await server.stop()).toBe(0)
    })
  })

  test('is refused beyond this machine without secrets of the operator, and takes them', async () => {
    await inFolder(async (folder) => {
      const refused = await sluice(['serve', '--host', '0.0.0.0', '--port', 'x', '--data', folder])
      expect(refused.exitCode).toBe(2)
      expect(refused.stderr).toContain('--port must be a whole number')
      expect(refused.stderr).toContain('SLUICE_SECRET_KEY, SLUICE_MANAGEMENT_KEY, SLUICE_API_KEY must be set')
      expect([...new Bun.Glob('**').scanSync({ cwd: folder, dot: true })]).toEqual([])
      const examined = await sluice(['doctor', '--data', folder], {
        env: { SLUICE_HOST: '0.0.0.0', SLUICE_PORT: '0' },
      })
      expect(examined).toMatchObject({
        exitCode: 1,
        stdout: expect.stringMatching(/^problem +reach: SLUICE_HOST 0\.0\.0\.0 is reachable/m),
      })
      const server = await startServer(folder, { env: BOOTSTRAP, args: ['--host', '0.0.0.0'] })
      expect(server.stderr()).not.toContain('sk-sl-')
      expect(await server.stop()).toBe(0)
    })
  })

  test('keys that the settings no longer name are disabled: a start logs it, and refuses addresses beyond this machine', async () => {
    await inFolder(async (folder) => {
      const log = join(folder, 'log')
      const first = await startServer(join(folder, 'data'), { env: BOOTSTRAP, log })
      expect(await first.stop()).toBe(0)
      expect(await Bun.file(log).text()).not.toContain('no management key')
      const { SLUICE_SECRET_KEY } = BOOTSTRAP
      const second = await startServer(join(folder, 'data'), { env: { SLUICE_SECRET_KEY }, log })
      expect(await second.stop()).toBe(0)
      expect(second.stderr()).not.toContain('sk-sl-')
      expect(await Bun.file(log).text()).toContain('no management key is enabled')
      const args = ['serve', '--host', '0.0.0.0', '--port', '0', '--data', join(folder, 'data')]
      expect(await sluice(args, { env: { SLUICE_SECRET_KEY } })).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining('so SLUICE_MANAGEMENT_KEY, SLUICE_API_KEY must be set'),
      })
    })
  })

  test('a data folder that cannot be made is a sentence that names the setting', async () => {
    await inFolder(async (folder) => {
      const file = join(folder, 'file')
      await Bun.write(file, '')
      expect(await sluice(['serve', '--port', '0', '--data', file])).toMatchObject({
        exitCode: 1,
        stderr: `sluice: The data folder ${file} cannot be created (EEXIST): set SLUICE_DATA to another folder\n`,
      })
    })
  })

  test('a second one on the folder exits 1 and names the first; a taken port is a sentence', async () => {
    await inFolder(async (folder) => {
      const first = await startServer(join(folder, 'a'))
      const second = await sluice(['serve', '--port', '0', '--data', join(folder, 'a')])
      expect(second).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(`process ${first.pid}`) })
      const port = new URL(first.url).port
      const third = await sluice(['serve', '--port', port, '--data', join(folder, 'b')])
      expect(third).toMatchObject({
        exitCode: 1,
        stderr: `sluice: 127.0.0.1:${port} is taken by another program: stop it, or set SLUICE_PORT\n`,
      })
      // Reserved for documents (RFC 5737): no machine has it.
      const elsewhere = { env: { ...BOOTSTRAP, SLUICE_HOST: '192.0.2.1' } }
      const nowhere = await sluice(['serve', '--port', port, '--data', join(folder, 'c')], elsewhere)
      expect(nowhere).toMatchObject({
        exitCode: 1,
        stderr: `sluice: This machine has no address 192.0.2.1 to listen at: set SLUICE_HOST\n`,
      })
      expect(await first.stop()).toBe(0)
      // The start that failed has not used up the first run: the keys are still to be shown.
      const fourth = await startServer(join(folder, 'b'))
      expect(fourth.stderr()).toMatch(/inference +sk-sl-v1-\w+\n +management +sk-sl-mgmt-v1-\w+/)
      expect(await fourth.stop()).toBe(0)
    })
  })
})

describe('SIGTERM while an answer that is not streamed is under way', () => {
  afterEach(killServers)

  /** The status of that answer. The upstream answers once `hold` is over. */
  async function drained(grace: string, hold: (stopping: Promise<void>) => Promise<void>): Promise<number> {
    const upstream = startUpstream()
    const arrived = Promise.withResolvers<void>()
    const stopping = Promise.withResolvers<void>()
    upstream.on('held', async (seen, request) => {
      arrived.resolve()
      await hold(stopping.promise)
      return unary('late')(seen, request)
    })
    try {
      return await inFolder(async (folder) => {
        const models = [{ id: 'held', pricing: { prompt: '0', completion: '0' } }]
        const lab = { slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }
        await Bun.write(join(folder, 'sluice.yaml'), JSON.stringify({ providers: [lab] }))
        const env = { ...BOOTSTRAP, SLUICE_SHUTDOWN_GRACE_MS: grace }
        const server = await startServer(folder, { env })
        const answer = fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${env.SLUICE_API_KEY}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'held', messages: [{ role: 'user', content: 'Hello' }] }),
        })
        await arrived.promise
        const exited = server.stop()
        while ((await fetch(`${server.url}/health/ready`)).status === 200) await Bun.sleep(5)
        stopping.resolve()
        const { status } = await answer
        expect(await exited).toBe(0)
        return status
      })
    } finally {
      await upstream.stop()
    }
  }

  test('within the grace it arrives whole', async () => {
    expect(await drained('10000', (stopping) => stopping)).toBe(200)
  })

  test('beyond the grace it is an error, and not a broken connection', async () => {
    expect(await drained('500', () => new Promise(() => undefined))).toBe(503)
  })
})
