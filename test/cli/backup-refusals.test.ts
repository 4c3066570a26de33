import { afterEach, expect, test } from 'bun:test'
import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { openDataFolder } from '../../src/server/data-folder.ts'
import { backUpStopped, chat, ENV } from './backups.ts'
import { killServers, sluice, startServer } from './process.ts'

afterEach(killServers)
const { folder, data, backup, there } = backUpStopped()

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
    what: 'a target that is not empty',
    args: (p) => ['backup', p, '--data', join(p, '../data')],
    make: (p) => [mkdirSync(p), writeFileSync(join(p, 'x'), '')],
    code: 1,
    says: 'is not empty',
  },
  {
    what: 'a target that cannot be created',
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
    what: 'a missing key that should be included',
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
    what: 'a missing backup',
    args: (p) => ['restore', join(p, 'none'), '--data', p],
    code: 3,
    says: 'There is no backup at',
  },
  {
    what: 'a folder that is not a backup',
    args: (p) => ['restore', join(p, '../data'), '--data', p],
    code: 1,
    says: 'is not a backup',
  },
  {
    what: 'a database that was changed',
    args: (p) => ['restore', p, '--data', `${p}-2`],
    make: (p) => [cpSync(backup, p, { recursive: true }), appendFileSync(join(p, 'sluice.db'), 'x')],
    code: 1,
    says: 'differs from the backed-up file',
  },
  {
    what: 'a file that is missing',
    args: (p) => ['restore', p, '--data', `${p}-2`],
    make: (p) => [cpSync(backup, p, { recursive: true }), rmSync(join(p, 'bodies.db'))],
    code: 1,
    says: 'The backup lacks bodies.db',
  },
  {
    what: 'a manifest with a path outside the folder',
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
    what: 'a data folder that is not empty',
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
    what: 'a file without a key',
    args: (p) => ['restore', join(p, '../backup'), '--data', `${p}-2`, '--secret-key-file', p],
    make: (p) => writeFileSync(p, 'not a key'),
    code: 2,
    says: 'must be 32 bytes',
  },
]

test.each(refusals.map((row, index) => ({ ...row, index })))('rejected: $what', async (row) => {
  const path = there(`refused-${row.index}`)
  row.make?.(path)
  const before = readdirSync(folder).sort()
  const { exitCode, stderr, stdout } = await sluice(row.args(path), row.env ? { env: row.env } : {})
  expect([exitCode, stdout, stderr]).toEqual([row.code, '', expect.stringContaining(row.says)])
  expect(stderr).not.toContain('\n    at ')
  // The attempt leaves nothing behind.
  expect(readdirSync(folder).sort()).toEqual(before)
  expect(existsSync(join(data, 'files/copy'))).toBe(false)
})

test('a folder that a server uses is rejected', async () => {
  const server = await startServer(there('served'), { env: ENV })
  const { exitCode, stderr } = await sluice(['restore', backup, '--data', there('served')])
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining(`in use by process ${server.pid}`)])
  expect((await chat(server)).status).toBe(200)
  await server.stop()
})
