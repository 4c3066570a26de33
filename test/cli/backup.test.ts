import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { openDataFolder } from '../../src/server/data-folder.ts'
import { removeBroken, removeVerified } from '../verified.ts'
import { BOOTSTRAP, inFolder, killServers, type Served, sluice, startServer } from './process.ts'

const { SLUICE_API_KEY, SLUICE_MANAGEMENT_KEY } = BOOTSTRAP
/** The secret key is the folder's own. */
const ENV = { SLUICE_API_KEY, SLUICE_MANAGEMENT_KEY }

afterEach(killServers)

async function ask(server: Served, path: string, body?: unknown, key = SLUICE_API_KEY): Promise<Response> {
  const isForm = body instanceof FormData
  return fetch(`${server.url}/api/v1${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { authorization: `Bearer ${key}`, ...(isForm ? {} : { 'content-type': 'application/json' }) },
    ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
  })
}

const chat = (server: Served) =>
  ask(server, '/chat/completions', { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] })

async function upload(server: Served, text: string): Promise<string> {
  const form = new FormData()
  form.set('file', new File([text], 'note.txt'))
  const reply = await ask(server, '/files', form)
  expect([reply.status, reply.statusText]).toEqual([200, 'OK'])
  return (await reply.json()).id
}

test('a served folder is backed up whole while requests run, and a server goes on from the restored one', async () => {
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
    const said = JSON.parse(made.stdout)
    expect(said).toMatchObject({ ok: true, path: backup, files: 3, has_secret_key: false, lacking: [] })
    expect(said.secret_key_id).toMatch(/^[0-9a-f]{8}$/)
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

    // Everything is gone but the backup and the key.
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
    expect((await sluice(['verify', again])).exitCode).toBe(0)
  })
}, 60_000)

describe('a stopped folder', () => {
  let folder: string
  let data: string
  let backup: string

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sluice-backup-'))
    data = join(folder, 'data')
    backup = join(folder, 'backup')
    const server = await startServer(data, { env: ENV })
    await upload(server, 'a file')
    await ask(server, '/byok', { provider: 'openai', key: 'sk-of-the-caller' }, SLUICE_MANAGEMENT_KEY)
    await chat(server)
    await server.stop()
    expect((await sluice(['backup', backup, '--data', data])).exitCode).toBe(0)
  })
  afterAll(() => {
    removeVerified(data)
    removeVerified(backup)
    removeBroken(folder)
  })

  const there = (name: string): string => join(folder, name)
  const inManifest = (path: string, edit: (manifest: Record<string, unknown>) => unknown): void => {
    const file = join(path, 'manifest.json')
    const manifest = JSON.parse(readFileSync(file, 'utf8'))
    edit(manifest)
    writeFileSync(file, JSON.stringify(manifest))
  }
  const rehash = (path: string, name: string): void =>
    inManifest(path, (manifest) => {
      const content = readFileSync(join(path, name))
      const sha256 = new Bun.CryptoHasher('sha256').update(content).digest('hex')
      const files = Array.isArray(manifest['files']) ? manifest['files'] : []
      Object.assign(
        files.find((file) => file.path === name),
        { bytes: content.length, sha256 },
      )
    })

  test('without its key it is restored, and says what a start needs', async () => {
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

  test('with its key in it, it needs nothing', async () => {
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

  test('uploaded files that are named and not there are told, by the backup and by verify', async () => {
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
      const told = await sluice(args)
      expect([path, told.exitCode, told.stdout]).toEqual([
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

  test('what a crash left of uploads is not backed up', async () => {
    cpSync(data, there('crashed'), { recursive: true })
    writeFileSync(join(there('crashed'), 'files', 'file_0190a000000070008000000000000000'), 'no row names it')
    writeFileSync(join(there('crashed'), 'files', 'x.part'), 'half')
    expect((await sluice(['backup', there('crashed-backup'), '--data', there('crashed')])).exitCode).toBe(0)
    expect(readdirSync(join(there('crashed-backup'), 'files'))).toEqual(readdirSync(join(data, 'files')))
  })

  const refusals: {
    what: string
    args(path: string): string[]
    env?: Record<string, string>
    make?(path: string): unknown
    code: number
    says: string
  }[] = [
    {
      what: 'no data folder',
      args: (p) => ['backup', p, '--data', `${p}/none`],
      code: 3,
      says: 'no data folder',
    },
    {
      what: 'a target with something in it',
      args: (p) => ['backup', p, '--data', join(p, '../data')],
      make: (p) => [mkdirSync(p), writeFileSync(join(p, 'x'), '')],
      code: 1,
      says: 'is not empty',
    },
    {
      what: 'a target that cannot be made',
      args: (p) => ['backup', join(p, 'file/copy'), '--data', join(p, '../data')],
      make: (p) => [mkdirSync(p), writeFileSync(join(p, 'file'), '')],
      code: 1,
      says: 'file/copy cannot be made (',
    },
    {
      what: 'a target in the data folder',
      args: (p) => ['backup', join(p, '../data/files/copy'), '--data', join(p, '../data')],
      code: 1,
      says: 'is inside the data folder',
    },
    {
      what: 'a key that is not there to be included',
      args: (p) => ['backup', `${p}-2`, '--data', p, '--with-secret-key'],
      make: (p) => openDataFolder(p).close(),
      code: 1,
      says: 'There is no secret.key',
    },
    {
      what: 'a database of another program',
      args: (p) => ['backup', `${p}-2`, '--data', p],
      make(p) {
        mkdirSync(p)
        const other = openDatabase(join(p, 'sluice.db'))
        other.file.run('CREATE TABLE chess (move TEXT)')
        other.close()
      },
      code: 1,
      says: 'is not a Sluice database',
    },
    { what: 'no folder', args: () => ['backup'], code: 2, says: 'missing required argument' },
    {
      what: 'no backup at all',
      args: (p) => ['restore', join(p, 'none'), '--data', p],
      code: 3,
      says: 'There is no backup at',
    },
    {
      what: 'something that is no backup',
      args: (p) => ['restore', join(p, '../data'), '--data', p],
      code: 1,
      says: 'is no backup',
    },
    {
      what: 'a database that was changed',
      args: (p) => ['restore', p, '--data', `${p}-2`],
      make: (p) => [cpSync(backup, p, { recursive: true }), appendFileSync(join(p, 'sluice.db'), 'x')],
      code: 1,
      says: 'is not what was backed up',
    },
    {
      what: 'a file that is missing',
      args: (p) => ['restore', p, '--data', `${p}-2`],
      make: (p) => [cpSync(backup, p, { recursive: true }), rmSync(join(p, 'bodies.db'))],
      code: 1,
      says: 'The backup lacks bodies.db',
    },
    {
      what: 'a manifest that leads out of the folder',
      args: (p) => ['restore', p, '--data', `${p}-2`],
      make(p) {
        cpSync(backup, p, { recursive: true })
        inManifest(p, ({ files }) =>
          Array.isArray(files) ? files.push({ ...files[0], path: 'files/../../evil' }) : null,
        )
      },
      code: 1,
      says: 'is damaged',
    },
    {
      what: 'a newer format',
      args: (p) => ['restore', p, '--data', `${p}-2`],
      make(p) {
        cpSync(backup, p, { recursive: true })
        inManifest(p, (manifest) => Object.assign(manifest, { sluice_backup: 2 }))
      },
      code: 1,
      says: 'newer Sluice (format 2)',
    },
    {
      what: 'a newer schema',
      args: (p) => ['restore', p, '--data', `${p}-2`],
      make(p) {
        cpSync(backup, p, { recursive: true })
        const newer = openDatabase(join(p, 'sluice.db'))
        newer.file.run("INSERT INTO schema_migrations VALUES ('9999_later', 0)")
        newer.file.run('PRAGMA journal_mode = DELETE')
        newer.close()
        rehash(p, 'sluice.db')
      },
      code: 1,
      says: 'newer Sluice (schema 9999_later)',
    },
    {
      what: 'a folder that holds something',
      args: (p) => ['restore', join(p, '../backup'), '--data', join(p, '../data')],
      code: 1,
      says: 'is not empty',
    },
    {
      what: 'another secret key',
      args: (p) => ['restore', join(p, '../backup'), '--data', p],
      env: { SLUICE_SECRET_KEY: 'cd'.repeat(32) },
      code: 1,
      says: 'SLUICE_SECRET_KEY is not the key with which the backup was sealed',
    },
    {
      what: 'a file with no key in it',
      args: (p) => ['restore', join(p, '../backup'), '--data', `${p}-2`, '--secret-key-file', p],
      make: (p) => writeFileSync(p, 'not a key'),
      code: 2,
      says: 'must be 32 bytes',
    },
  ]

  test.each(refusals.map((row, index) => ({ ...row, index })))('is refused: $what', async (row) => {
    const path = there(`refused-${row.index}`)
    row.make?.(path)
    const before = readdirSync(folder).sort()
    const { exitCode, stderr, stdout } = await sluice(row.args(path), row.env ? { env: row.env } : {})
    expect([exitCode, stdout, stderr]).toEqual([row.code, '', expect.stringContaining(row.says)])
    expect(stderr).not.toContain('\n    at ')
    // Nothing is left of the attempt.
    expect(readdirSync(folder).sort()).toEqual(before)
    expect(existsSync(join(data, 'files/copy'))).toBe(false)
  })

  test('a folder that is served is refused by its holder', async () => {
    const server = await startServer(there('served'), { env: ENV })
    const { exitCode, stderr } = await sluice(['restore', backup, '--data', there('served')])
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`in use by process ${server.pid}`)])
    expect((await chat(server)).status).toBe(200)
    await server.stop()
  })
})
