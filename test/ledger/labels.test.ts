import { expect, test } from 'bun:test'
import type { Label } from '../../src/core/generation.ts'
import { listActivity } from '../../src/ledger/activity.ts'
import { prepareBounds } from '../../src/ledger/label-bounds.ts'
import { prepareLabels } from '../../src/ledger/labels.ts'
import { openLedger } from '../../src/ledger/open.ts'
import { prune } from '../../src/ledger/retention.ts'
import { rowOf } from '../../src/ledger/row.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { entryOf, NOON, rowsOf, settlementOf } from './fixture.ts'
import { databaseForEach } from './opened.ts'

const DAY_MS = 86_400_000
const opened = databaseForEach()

const labels = (user: string, ...tags: Label[]): readonly Label[] => [['user', user], ...tags]
const team = (name: string): Label => ['tag:team', name]

async function spend(...settlements: Parameters<typeof settlementOf>[0][]): Promise<void> {
  const { ledger } = openLedger(opened.database, { now: () => NOON })
  await Promise.all(
    settlements.map((over) => {
      const settlement = settlementOf(over)
      const hold = ledger.reserve({ ...settlement, gates: [], amountNanoUsd: settlement.costNanoUsd })
      return ledger.settle(hold, settlement)
    }),
  )
  await ledger.close()
}
const sums = () =>
  rowsOf(
    opened.database,
    `SELECT name, value, sum(requests) AS n, sum(usage_nano_usd) AS spent, sum(byok_usage_nano_usd) AS byok
     FROM usage_labels GROUP BY 1, 2 ORDER BY 1, 2`,
  ).map(({ name, value, n, spent, byok }) => [name, value, n, spent, byok])

test('usage is summed by user and by each tag', async () => {
  await spend(
    { labels: labels('ada', team('red')), costNanoUsd: 100 },
    { labels: labels('ada', team('blue')), costNanoUsd: 20 },
    { labels: labels('bob', team('red'), ['tag:env', 'test']), costNanoUsd: 3, isByok: true },
    { costNanoUsd: 5_000 },
  )
  expect(sums()).toEqual([
    ['tag:env', 'test', 1, 0, 3],
    ['tag:team', 'blue', 1, 20, 0],
    ['tag:team', 'red', 2, 100, 3],
    ['user', 'ada', 2, 120, 0],
    ['user', 'bob', 1, 0, 3],
  ])
  const items = await listActivity(opened.database.db, { label: 'user' }, NOON)
  expect(items.map(({ label, usage, requests }) => [label, usage, requests])).toEqual([
    ['ada', 1.2e-7, 2],
    ['bob', 0, 1],
  ])
})

test('journal rows of a crash are summed by their labels too', async () => {
  const { ledger } = openLedger(opened.database, { now: () => NOON })
  const entry = entryOf({ labels: labels('ada'), promptCostNanoUsd: 70 })
  ledger.reserve({ generationId: entry.generationId, gates: [], amountNanoUsd: 100, startedAt: NOON })
  ledger.journal(entry)
  while (rowsOf(opened.database, 'SELECT 1 FROM journal').length === 0) await Bun.sleep(1)
  openLedger(opened.database, { now: () => NOON })
  expect(sums()).toEqual([['user', 'ada', 1, 70, 0]])
})

test('sums stay when their rows are pruned', async () => {
  await spend({ labels: labels('ada', team('red')), costNanoUsd: 100, startedAt: NOON - 3 * DAY_MS })
  await spend({ labels: labels('ada'), costNanoUsd: 20 })
  const before = sums()
  const pause = async (): Promise<void> => undefined
  const report = await prune(opened.database, {
    retention: { maxAgeMs: DAY_MS, maxBytes: null },
    now: () => NOON,
    mayPrune: () => true,
    pause,
  })
  expect(report.pruned).toBe(1)
  expect(sums()).toEqual(before)
  expect(rowsOf(opened.database, 'SELECT name, value FROM pruned_labels ORDER BY 1')).toEqual([
    { name: 'tag:team', value: 'red' },
    { name: 'user', value: 'ada' },
  ])
})

test('a caller cannot make more labels than the bounds of its key and of a day: the rest is one', () => {
  const bounds = prepareBounds(opened.database, 3, 5)
  const begin = prepareLabels(opened.database)
  const booked = (key: string, ...of: Label[]) => {
    const row = rowOf(settlementOf({ keyHash: key, labels: of }), null)
    row.labels = bounds.bounded(row)
    bounds.keep()
    const inTable = begin()
    inTable.add(row)
    inTable.write()
    bounds.folded()
    return row.labels
  }
  expect(booked('a', ['user', '1'], ['user', '2'], ['tag:x', '3'])).toEqual([
    ['user', '1'],
    ['user', '2'],
    ['tag:x', '3'],
  ])
  expect(booked('a', ['user', '4'], ['tag:x', '5'], ['tag:y', '6'], ['user', '1'])).toEqual([
    ['user', ''],
    ['tag:', ''],
    ['user', '1'],
  ])
  // Another key has its own bound; the day has one for all.
  expect(booked('b', ['user', '1'], ['user', '2'], ['user', '3'])).toEqual([
    ['user', '1'],
    ['user', '2'],
    ['user', ''],
  ])
  // A new process counts what is there.
  const again = prepareBounds(opened.database, 3, 5)
  expect(again.bounded(rowOf(settlementOf({ keyHash: 'a', labels: [['user', '9']] }), null))).toEqual([
    ['user', ''],
  ])
  expect(again.bounded(rowOf(settlementOf({ keyHash: 'a', labels: [['user', '2']] }), null))).toEqual([
    ['user', '2'],
  ])
  opened.database.file.run('DELETE FROM usage_labels')
})

test('verify finds a sum of labels that is wrong', async () => {
  await spend({ labels: labels('ada'), costNanoUsd: 100 })
  opened.database.file.run('UPDATE usage_labels SET usage_nano_usd = 99')
  const { differences } = verifyLedger(opened.database)
  expect(differences).toHaveLength(1)
  expect(differences[0]).toContain('usage_nano_usd is 99, the rows sum to 100')
  opened.database.file.run('UPDATE usage_labels SET usage_nano_usd = 100')
})
