import { expect, test } from 'bun:test'
import { prune } from '../../src/ledger/retention.ts'
import { verifyLedger } from '../../src/ledger/verify.ts'
import { makeFolder, openMigrated } from './fixture.ts'
import { HOUR, pruning, seed } from './pruning.ts'

const changes: { what: string; sql: string; says: string; lines?: number }[] = [
  {
    what: 'an hour whose rows are pruned',
    sql: 'UPDATE usage_hourly SET prompt_tokens = prompt_tokens + 1 WHERE hour = (SELECT min(hour) FROM usage_hourly)',
    says: 'prompt_tokens is 15, the rows, with those that were pruned, sum to 14',
    // Its day differs from it too.
    lines: 2,
  },
  {
    what: 'an hour that is missing',
    sql: 'DELETE FROM usage_hourly WHERE hour = (SELECT min(hour) FROM usage_hourly)',
    says: 'requests is 0, the rows, with those that were pruned, sum to 1',
  },
  {
    what: 'a sum of pruned rows',
    sql: 'UPDATE pruned_hourly SET cached_tokens = 0 WHERE hour = (SELECT min(hour) FROM pruned_hourly)',
    says: 'cached_tokens is 4, the rows, with those that were pruned, sum to 0',
    lines: 1,
  },
  {
    what: 'sums of pruned rows that are missing',
    sql: 'DELETE FROM pruned_hourly WHERE hour = (SELECT min(hour) FROM pruned_hourly WHERE NOT is_byok)',
    says: 'key key-1, lifetime: the counter is',
  },
  {
    what: 'a charge of pruned rows to a guardrail',
    sql: "UPDATE pruned_charges SET usage_nano_usd = usage_nano_usd - 1 WHERE scope_id = 'guardrail-2' AND day = (SELECT min(day) FROM pruned_charges WHERE scope_id = 'guardrail-2')",
    says: 'guardrail guardrail-2, lifetime: the counter is',
    lines: 4,
  },
  {
    what: 'a counter of a day whose rows are pruned',
    sql: "UPDATE spending SET usage_nano_usd = usage_nano_usd + 1 WHERE scope = 'key' AND scope_id = 'key-0' AND interval = 'daily' AND window_start = (SELECT min(window_start) FROM spending WHERE interval = 'daily')",
    says: 'key key-0, daily from',
    lines: 1,
  },
  {
    what: 'a row that was changed',
    sql: 'UPDATE generations SET cost_nano_usd = cost_nano_usd + 1 WHERE id = (SELECT max(id) FROM generations)',
    says: 'usage_nano_usd is',
  },
  {
    what: 'a row that was deleted without pruning',
    sql: 'DELETE FROM generations WHERE id = (SELECT min(id) FROM generations)',
    says: 'requests is 1, the rows, with those that were pruned, sum to 0',
  },
]

test.each(changes)('after pruning, verification finds the change of $what', async ({ sql, says, lines }) => {
  const folder = makeFolder()
  const database = openMigrated(folder.databasePath)
  seed(database, 100, HOUR)
  await prune(database, pruning({ maxAgeMs: 50 * HOUR }))
  expect(verifyLedger(database).differences).toEqual([])
  database.file.run(sql)
  const { differences } = verifyLedger(database)
  database.close()
  folder.removeBroken()
  expect(differences.filter((line) => line.includes(says)).length).toBeGreaterThan(0)
  if (lines !== undefined) expect(differences.length).toBe(lines)
})
