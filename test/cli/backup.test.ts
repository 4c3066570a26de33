import { afterEach, describe, expect, test } from 'bun:test'
import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { removeVerified } from '../verified.ts'
import { ask, backUpStopped, chat, ENV, upload } from './backups.ts'
import { BOOTSTRAP, inFolder, killServers, sluice, startServer } from './process.ts'

const { SLUICE_MANAGEMENT_KEY } = BOOTSTRAP

afterEach(killServers)

test('a served folder is backed up completely while requests run, and a server continues from the restored one', async () => {
  await inFolder(async (folder) => {
    const [data, backup, again] = ['data', 'backup', 'again'].map((name) => join(folder, name))
    if (!data || !backup || !again) throw new Error('no names')
    const server = await startServer(data, { env: ENV })
    const fileId = await upload(server, 'kept for later')
    const stored = await (
      await ask(server, '/responses', { model: 'sluice/demo', input: 'Remember', store: true })
    ).json()
    const first = await (await chat(server)).json()
    await ask(server, '/byok', { provider: 'openai', key: 'sk-of-the-caller' }, SLUICE_MANAGEMENT_KEY)
    let isRunning = true
    let done = 0
    const load = async (): Promise<void> => {
      while (isRunning) {
        expect((await chat(server)).status).toBe(200)
        done += 1
      }
    }
    const loads = [load(), load()]
    const made = await sluice(['backup', backup, '--data', data, '--json'])
    isRunning = false
    await Promise.all(loads)
    expect([made.exitCode, made.stderr]).toEqual([0, ''])
    expect(done).toBeGreaterThan(0)
    const report = JSON.parse(made.stdout)
    expect(report).toMatchObject({ ok: true, path: backup, files: 3, has_secret_key: false, lacking: [] })
    expect(report.secret_key_id).toMatch(/^[0-9a-f]{8}$/)
    expect(readdirSync(backup).sort()).toEqual(['bodies.db', 'files', 'manifest.json', 'sluice.db'])
    expect(readdirSync(folder).sort()).toEqual(['backup', 'data'])
    const modes = ['', 'files', 'bodies.db', 'sluice.db', 'manifest.json', `files/${fileId}`].map(
      (name) => statSync(join(backup, name)).mode & 0o777,
    )
    expect(modes).toEqual([0o700, 0o700, 0o600, 0o600, 0o600, 0o600])
    const verified = await sluice(['verify', backup])
    expect([verified.exitCode, verified.stdout]).toEqual([
      0,
      expect.stringContaining('1 uploaded files, 14 bytes'),
    ])
    expect(await server.stop()).toBe(0)

    // Everything is deleted except the backup and the key.
    const key = join(folder, 'kept.key')
    cpSync(join(data, 'secret.key'), key)
    removeVerified(data)
    const restored = await sluice(['restore', backup, '--data', again, '--secret-key-file', key, '--json'])
    expect([restored.exitCode, restored.stderr]).toEqual([0, ''])
    expect(JSON.parse(restored.stdout)).toMatchObject({ ok: true, secret_key: 'fits', verify: { ok: true } })
    const next = await startServer(again, { env: ENV })
    expect(await (await ask(next, `/responses/${stored.id}`)).json()).toMatchObject({ id: stored.id })
    expect(await (await ask(next, `/files/${fileId}/content`)).text()).toBe('kept for later')
    expect((await (await ask(next, `/generation?id=${first.id}`)).json()).data.id).toBe(first.id)
    expect((await (await ask(next, '/byok', undefined, SLUICE_MANAGEMENT_KEY)).json()).data.length).toBe(1)
    expect((await chat(next)).status).toBe(200)
    expect(await next.stop()).toBe(0)
    expect((await sluice(['verify', '--data', again])).exitCode).toBe(0)
  })
}, 60_000)

describe('a stopped folder', () => {
  const { data, backup, there } = backUpStopped()

  test('is restored without its key, with a message about what a start needs', async () => {
    const restored = await sluice(['restore', backup, '--data', there('keyless')])
    expect(restored.exitCode).toBe(0)
    expect(restored.stderr).toContain(
      `put it into ${join(there('keyless'), 'secret.key')} or SLUICE_SECRET_KEY`,
    )
    expect(restored.stdout.trim().split('\n').at(-1)).toContain('everything agrees to the nano-dollar')
    expect(statSync(there('keyless')).mode & 0o777).toBe(0o700)
    const refused = await sluice(['serve', '--port', '0', '--data', there('keyless')], { env: ENV })
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining('The secret key is missing'),
    ])
    cpSync(join(data, 'secret.key'), join(there('keyless'), 'secret.key'))
    expect(await (await startServer(there('keyless'), { env: ENV })).stop()).toBe(0)
  })

  test('is restored with the key in its backup, ready to start', async () => {
    const made = await sluice(['backup', there('open'), '--data', data, '--with-secret-key'])
    expect([made.exitCode, made.stdout]).toEqual([
      0,
      expect.stringContaining('anyone with this folder can decrypt'),
    ])
    expect(statSync(join(there('open'), 'secret.key')).mode & 0o777).toBe(0o600)
    mkdirSync(there('ready'))
    const restored = await sluice(['restore', there('open'), '--data', there('ready')])
    expect([restored.exitCode, restored.stderr]).toEqual([0, ''])
    expect(await (await startServer(there('ready'), { env: ENV })).stop()).toBe(0)
  })

  test('has missing uploaded files reported by backup, restore and verify', async () => {
    cpSync(data, there('torn'), { recursive: true })
    const name = readdirSync(join(data, 'files'))[0] ?? ''
    rmSync(join(there('torn'), 'files', name))
    const made = await sluice(['backup', there('torn-backup'), '--data', there('torn'), '--json'])
    expect(made.exitCode).toBe(1)
    expect(JSON.parse(made.stdout)).toMatchObject({ ok: false, lacking: [`files/${name}`] })
    for (const [args, path] of [
      [['verify', there('torn')], 'verify'],
      [['restore', there('torn-backup'), '--data', there('torn-again')], 'restore'],
    ] as const) {
      const run = await sluice(args)
      expect([path, run.exitCode, run.stdout]).toEqual([
        path,
        1,
        expect.stringContaining(`file ${name}: its bytes are not there`),
      ])
    }
    writeFileSync(join(there('torn'), 'files', name), 'cut')
    expect((await sluice(['verify', there('torn')])).stdout).toContain(
      '3 bytes are there, and 6 were uploaded',
    )
  })

  test('has leftovers of aborted uploads excluded from its backup', async () => {
    cpSync(data, there('crashed'), { recursive: true })
    writeFileSync(join(there('crashed'), 'files', 'file_0190a000000070008000000000000000'), 'no row names it')
    writeFileSync(join(there('crashed'), 'files', 'x.part'), 'half')
    expect((await sluice(['backup', there('crashed-backup'), '--data', there('crashed')])).exitCode).toBe(0)
    expect(readdirSync(join(there('crashed-backup'), 'files'))).toEqual(readdirSync(join(data, 'files')))
  })
})
