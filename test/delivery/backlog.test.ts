import { expect, test } from 'bun:test'
import { createBacklog } from '../../src/delivery/backlog.ts'
import { backlogRows } from '../../src/delivery/thread.ts'
import { prepareOutbox } from '../../src/ledger/outbox.ts'
import { databaseForEach } from '../ledger/opened.ts'

const opened = databaseForEach()

const textOf = (workspaceId: string) => ({
  workspaceId,
  text: JSON.stringify({ id: crypto.randomUUID(), workspace: workspaceId, note: {} }),
})

test('what waits for a destination is that of its workspace, in rows of older versions too', () => {
  const { database } = opened
  let now = 1_000
  const insert = prepareOutbox(database, () => now)
  insert([textOf('a'), textOf('b'), textOf('a')])
  now = 2_000
  insert([textOf('b')])
  insert([textOf('b'), textOf('a')])
  database.file.run('UPDATE export_outbox SET workspaces = NULL WHERE seq = 3')
  const backlog = createBacklog(backlogRows(database), { maxAgeMs: 1e12, maxBytes: 1e12 })
  backlog.extend()
  const all = backlog.after(0, null)
  expect(all).toMatchObject({ generations: 6, oldestAt: 1_000 })
  const [a, b] = [backlog.after(0, 'a'), backlog.after(0, 'b')]
  expect(a).toMatchObject({ generations: 3, oldestAt: 1_000 })
  expect(b).toMatchObject({ generations: 3, oldestAt: 1_000 })
  expect(Math.abs(a.bytes + b.bytes - all.bytes)).toBeLessThanOrEqual(3)
  const firstRow = 64 + 2
  expect(backlog.after(firstRow, 'a')).toMatchObject({ generations: 1, oldestAt: 2_000 })
  expect(backlog.after(firstRow, 'b')).toMatchObject({ generations: 2, oldestAt: 2_000 })
  expect(backlog.after(0, 'c')).toEqual({ generations: 0, bytes: 0, oldestAt: null })
  backlog.forget(backlog.head())
  for (const workspace of [null, 'a', 'b'])
    expect(backlog.after(0, workspace)).toEqual({ generations: 0, bytes: 0, oldestAt: null })
})

test('a damaged row of an older version counts for no workspace, and stops nothing', () => {
  const { database } = opened
  prepareOutbox(database, () => 1_000)([textOf('a')])
  database.file.run("UPDATE export_outbox SET workspaces = NULL, generations = '[{'")
  const backlog = createBacklog(backlogRows(database), { maxAgeMs: 1e12, maxBytes: 1e12 })
  backlog.extend()
  expect(backlog.after(0, 'a').generations).toBe(0)
  expect(backlog.after(0, null).generations).toBe(1)
})
