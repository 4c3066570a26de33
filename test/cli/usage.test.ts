import { Database as SqliteFile } from 'bun:sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { periodOf } from '../../src/cli/period.ts'
import { hashKey } from '../../src/core/keys.ts'
import { DATABASE_FILE } from '../../src/db/database.ts'
import { workspaces } from '../../src/db/tables.ts'
import { prune } from '../../src/ledger/retention.ts'
import { rowOf } from '../../src/ledger/row.ts'
import { openDataFolder } from '../../src/server/data-folder.ts'
import { seedRows, settlementOf } from '../ledger/fixture.ts'
import { removeBroken, removeVerified } from '../verified.ts'
import { BOOTSTRAP, killServers, type Served, sluice, startServer } from './process.ts'

const at = (day: number, hour = 12): number => Date.UTC(2026, 6, day, hour)
const PERIOD = ['--since', '2026-07-01', '--until', '2026-07-16']
const KEY = hashKey(BOOTSTRAP.SLUICE_API_KEY)

let folder: string
let data: string
let server: Served
let workspaceId = ''

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-usage-'))
  data = join(folder, 'data')
  await (await startServer(data, { env: BOOTSTRAP })).stop()
  const opened = openDataFolder(data)
  const [workspace] = await opened.database.db.select().from(workspaces)
  workspaceId = workspace?.id ?? ''
  const spend = (startedAt: number, costNanoUsd: number, over: Parameters<typeof settlementOf>[0] = {}) =>
    rowOf(settlementOf({ keyHash: KEY, workspaceId, startedAt, costNanoUsd, ...over }), null)
  seedRows(opened.database, [
    spend(at(1, 0), 1_000),
    spend(at(3), 20_000_000, { modelId: 'lab/large', providerName: 'Other' }),
    spend(at(3, 23), 1, { finishReason: 'error' }),
    spend(at(15, 23), 300, { keyHash: 'e'.repeat(64), isByok: true }),
    // Outside.
    spend(at(0, 23), 5_000),
    spend(at(16, 0), 7_000),
  ])
  // Usage is not of rows: these are all gone.
  const retention = { maxAgeMs: 0, maxBytes: null }
  const pause = async (): Promise<void> => undefined
  await prune(opened.database, { retention, now: () => at(20), mayPrune: () => true, pause })
  expect(opened.database.file.query('SELECT * FROM generations').all()).toEqual([])
  opened.close()
  server = await startServer(data, { env: BOOTSTRAP })
})
afterAll(async () => {
  await server.stop()
  killServers()
  removeVerified(folder)
})

const line = (requests: number, usage: number, more: Record<string, unknown> = {}) => ({
  requests,
  failed_requests: 0,
  prompt_tokens: 14 * requests,
  completion_tokens: 23 * requests,
  usage,
  byok_usage: 0,
  ...more,
})

const answers: { by: string; rows(): Record<string, unknown>[] }[] = [
  {
    by: 'day',
    rows: () => [
      { day: '2026-07-01', ...line(1, 0.000001) },
      { day: '2026-07-03', ...line(2, 0.020000001, { failed_requests: 1 }) },
      { day: '2026-07-15', ...line(1, 0, { byok_usage: 3e-7 }) },
    ],
  },
  {
    by: 'model',
    rows: () => [
      { model: 'lab/large', ...line(1, 0.02) },
      { model: 'lab/tiny', ...line(3, 0.000001001, { failed_requests: 1, byok_usage: 3e-7 }) },
    ],
  },
  {
    by: 'provider',
    rows: () => [
      { provider: 'Other', ...line(1, 0.02) },
      { provider: 'Lab', ...line(3, 0.000001001, { failed_requests: 1, byok_usage: 3e-7 }) },
    ],
  },
  {
    by: 'key',
    rows: () => [
      { key: KEY, name: expect.any(String), ...line(3, 0.020001001, { failed_requests: 1 }) },
      { key: 'e'.repeat(64), name: 'e'.repeat(64), ...line(1, 0, { byok_usage: 3e-7 }) },
    ],
  },
  {
    by: 'workspace',
    rows: () => [
      {
        workspace: workspaceId,
        name: expect.not.stringMatching(workspaceId),
        ...line(4, 0.020001001, { failed_requests: 1, byok_usage: 3e-7 }),
      },
    ],
  },
]

test.each(answers)('by $by: beside a server, and the same through it', async ({ by, rows }) => {
  const args = ['usage', '--by', by, ...PERIOD, '--json']
  const local = await sluice([...args, '--data', data])
  const env = { SLUICE_URL: server.url, SLUICE_KEY: BOOTSTRAP.SLUICE_MANAGEMENT_KEY }
  const remote = await sluice(args, { env })
  expect([local.exitCode, local.stderr, remote.exitCode, remote.stderr]).toEqual([0, '', 0, ''])
  expect(JSON.parse(local.stdout)).toEqual({
    by,
    from: '2026-07-01T00:00:00Z',
    until: '2026-07-16T00:00:00Z',
    data: rows(),
    total: line(4, 0.020001001, { failed_requests: 1, byok_usage: 3e-7 }),
  })
  expect(remote.stdout).toBe(local.stdout)
})

test('a copy that the version before days were summed has left, and one whose days are not filled yet', async () => {
  const copy = join(folder, 'copy')
  mkdirSync(copy)
  const file = new SqliteFile(join(data, DATABASE_FILE), { readonly: true })
  file.run('VACUUM INTO ?', [join(copy, DATABASE_FILE)])
  file.close()
  const models = async (from: string) => {
    const { stdout } = await sluice(['usage', '--data', from, '--by', 'model', '--json', ...PERIOD])
    return stdout
  }
  const whole = await models(data)
  expect(whole).toContain('lab/large')
  for (const lost of ['DELETE FROM usage_daily', 'DROP TABLE usage_daily']) {
    const older = new SqliteFile(join(copy, DATABASE_FILE))
    older.run(lost)
    older.close()
    expect(await models(copy)).toBe(whole)
  }
  // It would not verify.
  removeBroken(copy)
})

test('for people, and for spreadsheets', async () => {
  const shown = await sluice(['usage', ...PERIOD, '--data', data])
  expect(shown.stdout.trimEnd().split('\n')).toEqual([
    'DAY         REQUESTS  FAILED  PROMPT TOKENS  COMPLETION TOKENS  USAGE         BYOK USAGE',
    '2026-07-01  1         0       14             23                 $0.000001     $0.00',
    '2026-07-03  2         1       28             46                 $0.020000001  $0.00',
    '2026-07-15  1         0       14             23                 $0.00         $0.0000003',
    'total       4         1       56             92                 $0.020001001  $0.0000003',
    'from 2026-07-01T00:00:00Z until 2026-07-16T00:00:00Z',
  ])
  const cells = await sluice(['usage', '--by', 'model', '--csv', ...PERIOD, '--data', data])
  expect(cells.stdout.trimEnd().split('\r\n')).toEqual([
    'model,name,requests,failed,prompt_tokens,completion_tokens,usage,byok_usage',
    'lab/large,lab/large,1,0,14,23,0.02,0.00',
    'lab/tiny,lab/tiny,3,1,42,69,0.000001001,0.0000003',
  ])
  const named = await sluice(['usage', '--by', 'key', ...PERIOD, '--data', data])
  expect(named.stdout).toContain(`(${KEY.slice(0, 12)})`)
  const empty = await sluice(['usage', '--since', '2020-01-01', '--until', '2020-02-01', '--data', data])
  expect([empty.exitCode, empty.stdout.trim()]).toEqual([
    0,
    'Nothing was used from 2020-01-01T00:00:00Z until 2020-02-01T00:00:00Z',
  ])
})

const refusals: { args: string[]; env?: Record<string, string>; code: number; says: string }[] = [
  { args: ['--by', 'color'], code: 2, says: '--by must be one of day, model, provider, key, workspace' },
  { args: ['--since', 'yesterday'], code: 2, says: '--since must be such as 12h' },
  { args: ['--until', '2026-02-30'], code: 2, says: '--until must be such as' },
  { args: ['--since', '2026-02-03', '--until', '2026-02-03'], code: 2, says: 'nothing lies between' },
  { args: ['--data', '/nowhere/at/all'], code: 3, says: 'There is no database' },
  {
    args: [],
    env: { SLUICE_URL: 'http://127.0.0.1:9', SLUICE_KEY: 'x' },
    code: 5,
    says: 'cannot be reached',
  },
]

test.each(refusals)('usage $args is refused with $code', async ({ args, env, code, says }) => {
  const { exitCode, stdout, stderr } = await sluice(['usage', ...args], {
    cwd: folder,
    ...(env ? { env } : {}),
  })
  expect([exitCode, stdout, stderr]).toEqual([code, '', expect.stringContaining(says)])
})

describe('periods', () => {
  const now = Date.UTC(2026, 6, 15, 12, 34)
  const periods: [since: string, until: string | undefined, from: number, end: number][] = [
    ['7d', undefined, at(9, 0), now],
    ['1d', undefined, at(15, 0), now],
    ['2w', undefined, at(2, 0), now],
    ['12h', undefined, now - 12 * 3_600_000, now],
    ['1d', '2026-07-15', at(14, 0), at(15, 0)],
    ['7d', '2026-07-15T00:01:00Z', at(9, 0), at(15, 0) + 60_000],
    ['2026-07-03', undefined, at(3, 0), now],
    ['2026-07-03T10:00Z', '2026-07-04T12:30:00Z', at(3, 10), at(4) + 1_800_000],
  ]
  test.each(periods)('%s until %s', (since, until, from, end) => {
    expect(periodOf(since, until, now)).toEqual({ from, until: end })
  })
})
