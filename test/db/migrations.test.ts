import { afterEach, beforeEach, expect, test } from 'bun:test'
import {
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
import { getTableColumns, is, Table } from 'drizzle-orm'
import * as bodiesTables from '../../src/db/bodies-tables.ts'
import { type Database, openDatabase } from '../../src/db/database.ts'
import { type Migration, readMigrations } from '../../src/db/embedded-migrations.ts'
import { appliedTags, BODIES_MIGRATIONS, migrate, newestTag, type OnCopy } from '../../src/db/migrations.ts'
import * as tables from '../../src/db/tables.ts'

let folder: string
let path: string
let database: Database

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-migrations-'))
  path = join(folder, 'sluice.db')
  database = openDatabase(path)
})

afterEach(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const first: Migration = {
  tag: '0000_first',
  statements: [
    'CREATE TABLE a (id INTEGER PRIMARY KEY, note TEXT)',
    'CREATE TABLE b (a_id REFERENCES a(id))',
  ],
}
const second: Migration = { tag: '0001_second', statements: ['ALTER TABLE a ADD COLUMN more TEXT', ''] }

const tableNames = (): string[] =>
  database.file
    .query<{ name: string }, []>("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
    .all()
    .map((row) => row.name)
const columnNames = (table: string): string[] =>
  database.file
    .query<{ name: string }, [string]>('SELECT name FROM pragma_table_info(?)')
    .all(table)
    .map((row) => row.name)
const copies = (): string[] => readdirSync(folder).filter((name) => name.includes('.before-'))

test('a new file gets the whole schema, and no copy is made of nothing', () => {
  const report = migrate(database)
  expect(report.applied.at(-1)).toBe(newestTag())
  expect(report.copy).toBeNull()
  expect(copies()).toEqual([])
  expect(migrate(database)).toEqual({ applied: [], copy: null })
})

const schemas = [
  { file: 'sluice.db', declaredIn: tables, folder: 'postgres', migrations: undefined, least: 9 },
  {
    file: 'bodies.db',
    declaredIn: bodiesTables,
    folder: 'bodies-postgres',
    migrations: BODIES_MIGRATIONS,
    least: 3,
  },
] as const
test.each(schemas)(
  'the committed SQL makes the tables of $file that the code declares, in both dialects',
  (schema) => {
    migrate(database, schema.migrations)
    const declared = Object.values(schema.declaredIn).filter((value) => is(value, Table))
    expect(declared.length).toBeGreaterThanOrEqual(schema.least)
    const postgres = readMigrations(schema.folder).flatMap((migration) => migration.statements)
    for (const table of declared) {
      const name = nameOf(table)
      const columns = Object.values(getTableColumns(table)).map((column) => column.name)
      // A later migration adds its columns at the end.
      expect(columnNames(name).sort()).toEqual(columns.sort())
      const made = postgres.filter((statement) =>
        [`CREATE TABLE "${name}"`, `ALTER TABLE "${name}"`].some((start) => statement.includes(start)),
      )
      expect(
        columns.filter((column) => !made.some((statement) => statement.includes(`"${column}"`))),
      ).toEqual([])
    }
  },
)

const nameOf = (table: Table): string => String(Reflect.get(table, Symbol.for('drizzle:Name')))

test('every amount of money is whole nano-dollars and says so', () => {
  const named = Object.values(tables)
    .filter((value) => is(value, Table))
    .flatMap((table) => Object.values(getTableColumns(table)))
    .filter((column) => /cost|usage_nano|limit_nano|discount|_usd/.test(column.name))
  expect(named.length).toBeGreaterThan(8)
  const wrong = named.filter((column) => !column.name.endsWith('_nano_usd') || column.dataType !== 'number')
  // Switches, not amounts.
  expect(wrong.map((column) => column.name).sort()).toEqual([
    'broadcast_generation_cost',
    'is_data_discount_logging_enabled',
  ])
})

test('daily sums of the former order are kept, and lie in the order of their key', () => {
  const all = readMigrations('sqlite')
  const before = all.findIndex(({ tag }) => tag === '0011_usage_daily_order')
  migrate(database, all.slice(0, before))
  const parts = 'workspace_id, key_hash, user_id, model, provider_slug, provider_name, endpoint_id'
  for (let index = 0; index < 20; index++) {
    const values = [(index * 7) % 5, `w${index % 3}`, `k${index}`, 'u', `m${index % 2}`, 's', 'n', 'e', index]
    database.file.run(
      `INSERT INTO usage_daily (day, ${parts}, usage_nano_usd, is_byok) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 0)`,
      values,
    )
  }
  const sums = () => database.file.query('SELECT * FROM usage_daily ORDER BY key_hash').all()
  const former = sums()
  expect(migrate(database, all).applied[0]).toBe('0011_usage_daily_order')
  expect(former).toHaveLength(20)
  expect(sums()).toEqual(former)
  expect(
    database.file
      .query<{ name: string }, []>("SELECT name FROM pragma_table_list WHERE wr = 1 AND schema = 'main'")
      .all(),
  ).toContainEqual({ name: 'usage_daily' })
})

test('an existing file is copied first, then all missing migrations are applied', () => {
  migrate(database, [first])
  database.file.run("INSERT INTO a (note) VALUES ('kept')")
  const report = migrate(database, [first, second])
  expect(report).toEqual({ applied: ['0001_second'], copy: `${path}.before-0001_second` })
  expect(statSync(`${path}.before-0001_second`).mode & 0o077).toBe(process.platform === 'win32' ? 0o066 : 0)
  expect(columnNames('a')).toEqual(['id', 'note', 'more'])
  const copy = openDatabase(String(report.copy))
  expect(appliedTags(copy.file)).toEqual(['0000_first'])
  expect(copy.file.query('SELECT note FROM a').all()).toEqual([{ note: 'kept' }])
  copy.close()
})

const failing: { what: string; statements: string[]; says: string }[] = [
  {
    what: 'broken SQL',
    statements: ['DROP TABLE b', 'CREATE TABEL c'],
    says: 'syntax error',
  },
  {
    what: 'a table that exists',
    statements: ['CREATE TABLE c (x)', 'CREATE TABLE a (x)'],
    says: 'already exists',
  },
  {
    what: 'rows that point nowhere afterwards',
    statements: ['DELETE FROM a'],
    says: 'rows of "b" point at rows that do not exist',
  },
]

test.each(failing)('a migration that fails ($what) leaves everything as it was', ({ statements, says }) => {
  migrate(database, [first])
  database.file.run('INSERT INTO a (id) VALUES (1)')
  database.file.run('INSERT INTO b VALUES (1)')
  const before = [tableNames(), columnNames('a')]
  const attempt = () => migrate(database, [first, second, { tag: '0002_bad', statements }])
  expect(attempt).toThrow(says)
  expect(attempt).toThrow('could not be migrated to the schema 0002_bad and is unchanged')
  expect([tableNames(), columnNames('a')]).toEqual(before)
  expect(appliedTags(database.file)).toEqual(['0000_first'])
  expect(database.file.query('SELECT count(*) AS n FROM a').all()).toEqual([{ n: 1 }])
  // One copy, however often it is tried: a supervisor that starts it anew for ever does not fill the disk.
  expect(copies()).toEqual(['sluice.db.before-0001_second'])
  expect(database.file.query<{ foreign_keys: number }, []>('PRAGMA foreign_keys').get()?.foreign_keys).toBe(1)
})

test('a copy is announced before it is made, and only then', () => {
  const copied: { copy: string; bytes: number; isThere: boolean; columns: string[] }[] = []
  const onCopy: OnCopy = ({ copy, bytes }) =>
    copied.push({ copy, bytes, isThere: existsSync(copy), columns: columnNames('a') })
  migrate(database, [first], onCopy)
  expect(copied).toEqual([])
  const { size } = statSync(path)
  migrate(database, [first, second], onCopy)
  migrate(database, [first, second], onCopy)
  expect(copied).toEqual([
    { copy: `${path}.before-0001_second`, bytes: size, isThere: false, columns: ['id', 'note'] },
  ])
})

test('an incomplete copy of a killed process is replaced, never used', () => {
  migrate(database, [first])
  const draft = `${path}.before-0001_second.part`
  writeFileSync(draft, 'half of a database')
  migrate(database, [first, second])
  expect(copies()).toEqual(['sluice.db.before-0001_second'])
  expect(statSync(`${path}.before-0001_second`).mode & 0o777).toBe(0o600)
})

test('without a copy nothing is changed', () => {
  // Room for the file itself, none for another of its size: the folder of the copy does not exist.
  const elsewhere: Database = { ...database, path: join(folder, 'gone', 'sluice.db') }
  migrate(database, [first])
  expect(() => migrate(elsewhere, [first, second])).toThrow(
    'was not changed, because no copy of it could be made',
  )
  expect(columnNames('a')).toEqual(['id', 'note'])
})

test('a newer schema is refused by name, and the file is not touched', () => {
  migrate(database, [first, second])
  database.close()
  const bytes = readFileSync(path)
  database = openDatabase(path)
  expect(() => migrate(database, [first])).toThrow(
    'its schema is 0001_second, and this one supports schemas up to 0000_first',
  )
  database.close()
  expect(readFileSync(path).equals(bytes)).toBe(true)
  expect(copies()).toEqual([])
})

test('neither file is opened as the other', () => {
  migrate(database)
  expect(() => migrate(database, BODIES_MIGRATIONS)).toThrow('was written by a newer Sluice')
})

test('the database of another program is refused', () => {
  database.file.run('CREATE TABLE chess (move TEXT)')
  expect(() => migrate(database)).toThrow('is not a Sluice database: it holds the table "chess"')
  expect(tableNames()).toEqual(['chess'])
})

test('a bundle carries the SQL and does not look for the folder', async () => {
  const out = join(folder, 'bundle')
  mkdirSync(out)
  const built = await Bun.build({
    entrypoints: [join(import.meta.dir, '../../src/db/migrations.ts')],
    target: 'bun',
    outdir: out,
  })
  expect(built.success).toBe(true)
  const text = readFileSync(join(out, 'migrations.js'), 'utf8')
  expect(text).toContain('CREATE TABLE `generations`')
  expect(text).not.toContain('_journal.json')
  expect(existsSync(join(out, 'drizzle'))).toBe(false)
})
