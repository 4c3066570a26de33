/** What the command refuses, and what it reports at the start. */
import { afterAll, afterEach, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test'
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeBroken, removeVerified } from '../verified.ts'
import { BOOTSTRAP, bare, inFolder, killServers, SOURCE, sluice, startServer } from './process.ts'

/** Each row starts processes, on machines that do other things too. */
const SLOW_MS = 30_000
setDefaultTimeout(SLOW_MS)
afterEach(killServers)

const { SLUICE_API_KEY, SLUICE_MANAGEMENT_KEY } = BOOTSTRAP
/** The secret key is the folder's own. */
const ENV = { SLUICE_API_KEY, SLUICE_MANAGEMENT_KEY }

describe('restore takes regular files alone', () => {
  /** A backup with one uploaded file, of which something is replaced. */
  const rows: [name: string, replace: (backup: string, outside: string) => void, words: string][] = [
    [
      'a database that is a link',
      (backup, outside) => linked(join(backup, 'sluice.db'), outside),
      'regular file',
    ],
    ['a database that is a pipe', (backup) => piped(join(backup, 'sluice.db')), 'regular file'],
    ['a database that is a folder', (backup) => foldered(join(backup, 'sluice.db')), 'regular file'],
    [
      'a dangling link',
      (backup) => linked(join(backup, 'bodies.db'), '/nowhere/at/all', false),
      'regular file',
    ],
    ['a manifest that is a pipe', (backup) => piped(join(backup, 'manifest.json')), 'manifest.json'],
    [
      'a manifest that is a link',
      (backup, outside) => linked(join(backup, 'manifest.json'), outside),
      'manifest.json',
    ],
    [
      'an uploaded file that is a link',
      (backup, outside) => linked(uploadedIn(backup), outside),
      'regular file',
    ],
    [
      'a folder of files that is a link',
      (backup, outside) => linked(join(backup, 'files'), outside),
      'not a folder',
    ],
    ['a manifest that names a file twice', (backup) => twice(join(backup, 'manifest.json')), 'damaged'],
    ['a manifest that leads out', (backup) => leadsOut(join(backup, 'manifest.json')), 'damaged'],
  ]
  let source: string
  beforeAll(async () => {
    source = mkdtempSync(join(tmpdir(), 'sluice-doors-'))
    const data = join(source, 'data')
    const server = await startServer(data, { env: ENV })
    const form = new FormData()
    form.set('file', new File(['a note'], 'note.txt'))
    const headers = { authorization: `Bearer ${SLUICE_API_KEY}` }
    const uploaded = await fetch(`${server.url}/api/v1/files`, { method: 'POST', headers, body: form })
    expect(uploaded.status).toBe(200)
    expect(statSync(join(data, 'lock.pid')).mode & 0o777).toBe(0o600)
    await server.stop()
    expect((await sluice(['backup', join(source, 'backup'), '--data', data])).exitCode).toBe(0)
  })
  afterAll(() => removeVerified(source))

  test.each(rows)('%s', async (_, replace, words) => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-doors-'))
    const backup = join(folder, 'backup')
    cpSync(join(source, 'backup'), backup, { recursive: true })
    replace(backup, join(folder, 'outside'))
    const refused = await sluice(['restore', backup, '--data', join(folder, 'again')])
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining(words)])
    expect(existsSync(join(folder, 'again'))).toBe(false)
    removeBroken(folder)
  })

  const linked = (path: string, outside: string, moves = true): void => {
    if (moves) renameSync(path, outside)
    else rmSync(path)
    symlinkSync(outside, path)
  }
  const piped = (path: string): void => {
    rmSync(path)
    expect(Bun.spawnSync(['mkfifo', path]).exitCode).toBe(0)
  }
  const foldered = (path: string): void => {
    rmSync(path)
    mkdirSync(path)
  }
  const uploadedIn = (backup: string): string =>
    join(backup, 'files', readdirSync(join(backup, 'files'))[0] ?? '')
  const rewrite = (path: string, change: (files: { path: string }[]) => unknown[]): void => {
    const manifest = JSON.parse(readFileSync(path, 'utf8'))
    writeFileSync(path, JSON.stringify({ ...manifest, files: change(manifest.files) }))
  }
  const twice = (path: string): void => rewrite(path, (files) => [...files, ...files])
  const leadsOut = (path: string): void =>
    rewrite(path, (files) => files.map((file) => ({ ...file, path: `../${file.path}` })))
})

test('a backup of a folder with a link among the uploaded files is refused and names it', async () => {
  await inFolder(async (folder) => {
    const data = join(folder, 'data')
    await (await startServer(data, { env: ENV })).stop()
    const id = `file_${'0'.repeat(32)}`
    symlinkSync('/etc/hostname', join(data, 'files', id))
    const refused = await sluice(['backup', join(folder, 'backup'), '--data', data])
    expect([refused.exitCode, refused.stderr]).toEqual([1, expect.stringContaining(id)])
    expect(existsSync(join(folder, 'backup'))).toBe(false)
    rmSync(join(data, 'files', id))
  })
})

describe('the start reports', () => {
  const start = async (data: string, folder: string): Promise<string> => {
    const log = join(folder, 'log')
    const server = await startServer(data, { env: ENV, log })
    await server.stop()
    return readFileSync(log, 'utf8')
  }

  test('a secret key that others could read, and closes it', async () => {
    await inFolder(async (folder) => {
      const data = join(folder, 'data')
      expect(await start(data, folder)).not.toContain('could be read')
      chmodSync(join(data, 'secret.key'), 0o644)
      const log = await start(data, folder)
      expect(log).toContain('could be read by other users of this machine (mode 0644)')
      expect(log).toContain('"level":40')
      expect(statSync(join(data, 'secret.key')).mode & 0o777).toBe(0o600)
      expect(await start(data, folder)).not.toContain('could be read')
    })
  })

  test('an empty or missing ledger beside stored bodies; so does doctor', async () => {
    await inFolder(async (folder) => {
      const data = join(folder, 'data')
      expect(await start(data, folder)).not.toContain('missing or empty')
      for (const lose of [
        () => truncateSync(join(data, 'sluice.db')),
        () => rmSync(join(data, 'sluice.db')),
      ]) {
        lose()
        const doctor = await sluice(['doctor', '--data', data], { env: ENV })
        expect(doctor.stdout).toContain('missing or empty although bodies.db is there')
        expect(doctor.exitCode).toBe(1)
        const log = await start(data, folder)
        expect(log).toContain('sluice.db was missing or empty although bodies.db is there')
        expect(log).toContain('"level":50')
      }
    })
  })
})

test('a taken port is reported before anything is made', async () => {
  await inFolder(async (folder) => {
    const holder = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response('mine') })
    const data = join(folder, 'data')
    const refused = await sluice(['serve', '--port', String(holder.port), '--data', data], { env: ENV })
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`127.0.0.1:${holder.port} is taken by another program`),
    ])
    expect(existsSync(data)).toBe(false)
    await holder.stop(true)
  })
})

test('a second server of a folder at the same port names the first, whose port it is', async () => {
  await inFolder(async (folder) => {
    const data = join(folder, 'data')
    const server = await startServer(data, { env: ENV })
    const port = new URL(server.url).port
    const refused = await sluice(['serve', '--port', port, '--data', data], { env: ENV })
    expect([refused.exitCode, refused.stderr]).toEqual([
      1,
      expect.stringContaining(`is in use by process ${server.pid}`),
    ])
    await server.stop()
  })
})

test('a reader that has seen enough ends a command in silence', async () => {
  await inFolder(async (folder) => {
    const line = [...SOURCE, 'doctor', '--data', join(folder, 'data')].map((part) => `'${part}'`).join(' ')
    for (const reader of ['head -1', 'true']) {
      const child = Bun.spawn(['bash', '-c', `${line} | ${reader}; echo "exit \${PIPESTATUS[0]}"`], {
        env: bare(ENV),
        stdout: 'pipe',
        stderr: 'pipe',
      })
      const [stdout, stderr] = await Promise.all([
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ])
      expect(stderr).toBe('')
      expect(stdout).toMatch(/exit (?:0|141)\n$/)
    }
  })
})
