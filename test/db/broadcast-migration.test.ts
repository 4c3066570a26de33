import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openDatabase } from '../../src/db/database.ts'
import { readMigrations } from '../../src/db/embedded-migrations.ts'
import { migrate } from '../../src/db/migrations.ts'
import { insertRow } from './insert-row.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-broadcast-'))
const database = openDatabase(join(folder, 'sluice.db'))
afterAll(() => {
  database.close()
  rmSync(folder, { recursive: true, force: true })
})

const insert = (table: string, values: Record<string, string | number>) => insertRow(database, table, values)

test('an upgrade switches delivery on where there is no destination, and keeps the switch where there are some', () => {
  const all = readMigrations('sqlite')
  const before = all.filter(({ tag }) => tag < '0020')
  expect(before.length).toBe(20)
  migrate(database, before)
  insert('organizations', { id: '' })
  insert('users', { id: '' })
  const flags = { none: 0, off: 0, on: 1 }
  for (const [id, flag] of Object.entries(flags))
    insert('workspaces', { id, slug: id, is_observability_broadcast_enabled: flag })
  for (const id of ['off', 'on'])
    insert('observability_destinations', { id: `of ${id}`, workspace_id: id, regions: '[]' })
  migrate(database, all)
  const read = database.file
    .query('SELECT id, is_observability_broadcast_enabled AS flag FROM workspaces ORDER BY id')
    .all()
  expect(read).toEqual([
    { id: 'none', flag: 1 },
    { id: 'off', flag: 0 },
    { id: 'on', flag: 1 },
  ])
})
