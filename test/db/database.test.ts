import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
  chmodSync,
  copyFileSync,
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
import { eq } from 'drizzle-orm'
import {
  atomically,
  type Database,
  openBodies,
  openDatabase,
  openForReading,
  transact,
} from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import { apps, meta, workspaces } from '../../src/db/tables.ts'

let folder: string
let path: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-db-'))
  path = join(folder, 'sluice.db')
  database = openDatabase(path)
  migrate(database)
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const pragmas: [name: string, value: unknown][] = [
  ['journal_mode', 'wal'],
  ['synchronous', 2],
  ['foreign_keys', 1],
  ['trusted_schema', 0],
  ['journal_size_limit', 67_108_864],
  ['wal_autocheckpoint', 1000],
  ['cache_size', -8192],
  ['temp_store', 2],
]
test.each(pragmas)('the server runs with %s = %p', (name, value) => {
  const row = database.file.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get()
  expect(Object.values(row ?? {})).toEqual([value])
})

test('the file of bodies overwrites deleted rows, returns free space, and has a log of its own', () => {
  const bodies = openBodies(join(folder, 'bodies.db'))
  const values = ['journal_mode', 'synchronous', 'foreign_keys', 'secure_delete', 'auto_vacuum'].map((name) =>
    Object.values(bodies.file.query<Record<string, unknown>, []>(`PRAGMA ${name}`).get() ?? {}),
  )
  bodies.close()
  expect(values).toEqual([['wal'], [1], [1], [1], [2]])
})

test('the server waits at most a quarter of a second for another writer', () => {
  expect(database.file.query<{ timeout: number }, []>('PRAGMA busy_timeout').get()?.timeout).toBe(250)
})

test('all writes or none', async () => {
  const app = { origin: 'https://a.example', title: 'A', created_at: new Date() }
  const twice = atomically(database, (tx) => [tx.insert(apps).values(app), tx.insert(apps).values(app)])
  await expect(twice).rejects.toThrow()
  expect(await database.db.select().from(apps)).toEqual([])
  await atomically(database, (tx) => [
    tx.insert(apps).values(app),
    tx.update(apps).set({ title: 'B' }).where(eq(apps.title, 'A')),
  ])
  expect(await database.db.select({ title: apps.title }).from(apps)).toEqual([{ title: 'B' }])
})

test('a transaction that throws leaves nothing, and the next one works', () => {
  const insert = (name: string) => database.sync.insert(meta).values({ name, value: '' }).run()
  expect(() =>
    transact(database.file, () => {
      insert('a')
      throw new Error('no')
    }),
  ).toThrow('no')
  expect(transact(database.file, () => insert('b'))).toBeDefined()
  expect(database.sync.select({ name: meta.name }).from(meta).all()).toEqual([{ name: 'b' }])
})

test('rows that point nowhere are refused', () => {
  const row = {
    id: 'w',
    organization_id: 'none',
    name: 'W',
    slug: 'w',
    default_guardrail_id: 'g',
    created_by: 'none',
  }
  expect(() => database.sync.insert(workspaces).values(row).run()).toThrow()
})

test('after a close the one file holds everything', () => {
  database.sync.insert(meta).values({ name: 'a', value: '1' }).run()
  database.close()
  database.close()
  const copy = join(folder, 'copy.db')
  copyFileSync(path, copy)
  const other = openForReading(copy)
  expect(other.sync.select().from(meta).all()).toEqual([{ name: 'a', value: '1' }])
  expect(() => other.file.run("DELETE FROM meta WHERE name = 'a'")).toThrow('readonly')
  other.close()
})

const damages: { what: string; damage(bytes: Buffer): Buffer }[] = [
  { what: 'a file of something else', damage: () => Buffer.from('hello '.repeat(1000)) },
  { what: 'a damaged header', damage: (bytes) => Buffer.concat([Buffer.alloc(100), bytes.subarray(100)]) },
  { what: 'a file that was cut', damage: (bytes) => bytes.subarray(0, 3 * 4096) },
  {
    what: 'a page of noise',
    damage: (bytes) => {
      bytes.fill(0xa5, 2 * 4096, 6 * 4096)
      return bytes
    },
  },
]

test.each(damages)('$what is refused with one sentence and not changed', ({ damage }) => {
  database.close()
  const bytes = damage(readFileSync(path))
  writeFileSync(path, bytes)
  expect(() => openDatabase(path)).toThrow(
    `The database ${path} cannot be read: it is damaged or is not an SQLite database`,
  )
  expect(readFileSync(path).equals(bytes)).toBe(true)
})

test('a path that cannot be opened is named', () => {
  expect(() => openDatabase(join(folder, 'nowhere', 'sluice.db'))).toThrow(
    /^The database .*nowhere.* cannot be opened/,
  )
})

test.if(process.platform !== 'win32')(
  'a new database is for its owner alone in a folder that is not, and keeps a mode that was set',
  () => {
    const shared = join(folder, 'shared')
    mkdirSync(shared, { mode: 0o755 })
    const path = join(shared, 'new.db')
    const modes = (): number[] => readdirSync(shared).map((name) => statSync(join(shared, name)).mode & 0o777)
    const first = openDatabase(path)
    first.file.run('CREATE TABLE sums (n INTEGER)')
    expect(modes()).toEqual([0o600, 0o600, 0o600])
    first.close()
    chmodSync(path, 0o640)
    openDatabase(path).close()
    expect(modes()).toEqual([0o640])
  },
)
