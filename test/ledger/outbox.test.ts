import { describe, expect, test } from 'bun:test'
import type { Settlement } from '../../src/core/generation.ts'
import { createOutboxReader, type OutboxEntry } from '../../src/delivery/outbox-reader.ts'
import { prepareCommit } from '../../src/ledger/batch.ts'
import { prepareFolding } from '../../src/ledger/folding.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { rowOf } from '../../src/ledger/row.ts'
import { insertRow } from '../db/insert-row.ts'
import { entryOf, NOON, rowsOf, settlementOf } from './fixture.ts'
import { databaseForEach } from './opened.ts'

const opened = databaseForEach()

const exported = (over: Partial<Settlement> = {}): Settlement =>
  settlementOf({ exported: { parameters: { temperature: 0.5 } }, ...over })

const idsOf = (entries: readonly OutboxEntry[]): string[] => entries.map(({ generationId }) => generationId)

function commit(settlements: readonly Settlement[]) {
  const folding = prepareFolding(opened.database)
  const committed = prepareCommit(
    opened.database,
    folding,
    () => NOON,
  )({ settled: settlements.map((each) => rowOf(each, null)), journaled: [], forgotten: [] })
  folding.fold()
  return committed
}

test('one commit is one row of the outbox, with those that destinations take', () => {
  const settlements = [exported(), settlementOf(), exported({ workspaceId: 'workspace-2' })]
  expect(commit(settlements).isExported).toBe(true)
  expect(rowsOf(opened.database, 'SELECT seq, entries FROM export_outbox')).toEqual([{ seq: 1, entries: 2 }])
  expect(createOutboxReader(opened.database)(0, 10)).toEqual([
    {
      position: 64,
      generationId: settlements[0]?.generationId ?? '',
      workspaceId: 'workspace-1',
      committedAt: NOON,
      note: { parameters: { temperature: 0.5 } },
    },
    expect.objectContaining({ position: 65, workspaceId: 'workspace-2' }),
  ])
})

test('a commit without them writes no row', () => {
  expect(commit([settlementOf(), settlementOf()]).isExported).toBe(false)
  expect(rowsOf(opened.database, 'SELECT * FROM export_outbox')).toEqual([])
})

test('a generation that is in the table already does not go to the outbox again', () => {
  const [first, second] = [exported(), exported()]
  commit([first])
  commit([first, second])
  expect(idsOf(createOutboxReader(opened.database)(0, 10))).toEqual([first.generationId, second.generationId])
})

test('entries are read from any position on, in the order of commits', () => {
  const all = Array.from({ length: 200 }, () => exported())
  // A start after a crash commits more than one row of the outbox holds.
  commit(all.slice(0, 130))
  for (let at = 130; at < 200; at += 7) commit(all.slice(at, at + 7))
  const entries = createOutboxReader(opened.database)(0, 1000)
  expect(idsOf(entries)).toEqual(all.map(({ generationId }) => generationId))
  for (const most of [1, 3, 64, 65, 1000]) {
    const read: OutboxEntry[] = []
    for (;;) {
      const next = createOutboxReader(opened.database)(read.at(-1)?.position ?? 0, most)
      expect(next.length).toBeLessThanOrEqual(most)
      if (next.length === 0) break
      read.push(...next)
    }
    expect(read).toEqual(entries)
  }
})

test('positions are never used twice, although passed rows are deleted', () => {
  commit([exported()])
  commit([exported()])
  const last = createOutboxReader(opened.database)(0, 10).at(-1)?.position ?? 0
  opened.database.file.run('DELETE FROM export_outbox')
  commit([exported()])
  expect(createOutboxReader(opened.database)(last, 10)).toHaveLength(1)
})

test('a ledger reports a commit that has added to the outbox, after it', async () => {
  let seen = 0
  const { ledger } = openLedger(opened.database, {
    now: () => NOON,
    onExported: () => {
      seen = createOutboxReader(opened.database)(0, 10).length
    },
  })
  for (const settlement of [settlementOf(), exported()]) {
    const { generationId } = settlement
    const hold = ledger.reserve({ generationId, gates: [], amountNanoUsd: 1000, startedAt: NOON })
    expect(seen).toBe(0)
    await ledger.settle(hold, settlement)
  }
  expect(seen).toBe(1)
  await ledger.close()
})

describe('generations that a crash interrupted go to the outbox', () => {
  const WORKSPACES = ['workspace-1', 'workspace-2', 'workspace-3']

  async function interrupted(options: { exportsAll?: boolean }): Promise<string[]> {
    const { database } = opened
    const { ledger } = openLedger(database, { now: () => NOON })
    for (const workspaceId of WORKSPACES) {
      const entry = entryOf({ workspaceId })
      ledger.reserve({ ...entry, gates: [], amountNanoUsd: 1000 })
      ledger.journal(entry)
    }
    await ledger.close()
    await openLedger(database, { now: () => NOON, ...options }).ledger.close()
    return createOutboxReader(database)(0, 10).map(({ workspaceId }) => workspaceId)
  }

  test('of all workspaces', async () => {
    expect((await interrupted({ exportsAll: true })).sort()).toEqual(WORKSPACES)
  })

  test('in the traces of their callers', async () => {
    const { database } = opened
    const callerTrace = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331', 'vendor=1'] as const
    const entries = [entryOf({ callerTrace }), entryOf({ trace: { trace_id: 'mine' } }), entryOf()]
    const { ledger } = openLedger(database, { now: () => NOON })
    for (const entry of entries) {
      ledger.reserve({ ...entry, gates: [], amountNanoUsd: 1000 })
      ledger.journal(entry)
    }
    await ledger.close()
    await openLedger(database, { now: () => NOON, exportsAll: true }).ledger.close()
    const noteOf = new Map(
      createOutboxReader(database)(0, 10).map(({ generationId, note }) => [generationId, note]),
    )
    expect(entries.map(({ generationId }) => noteOf.get(generationId))).toEqual([
      { trace: callerTrace },
      {},
      {},
    ])
    const traces = rowsOf(database, 'SELECT trace FROM generations WHERE trace IS NOT NULL')
    expect(traces).toEqual([{ trace: '{"trace_id":"mine"}' }])
  })

  test('of workspaces with an enabled destination that have not switched delivery off', async () => {
    const { database } = opened
    insertRow(database, 'organizations', { id: '' })
    insertRow(database, 'users', { id: '' })
    for (const [at, id] of WORKSPACES.entries()) {
      insertRow(database, 'workspaces', { id, slug: id, is_observability_broadcast_enabled: at < 2 ? 1 : 0 })
      const destination = { id, workspace_id: id, regions: '[]', enabled: at === 1 ? 0 : 1 }
      insertRow(database, 'observability_destinations', destination)
    }
    expect(await interrupted({})).toEqual(['workspace-1'])
  })
})
