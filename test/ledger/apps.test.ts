import { expect, test } from 'bun:test'
import { prepareApps, pruneApps } from '../../src/ledger/apps.ts'
import { NOON, rowsOf } from './fixture.ts'
import { databaseForEach } from './opened.ts'

const DAY_MS = 86_400_000
const opened = databaseForEach()

const titles = () => rowsOf(opened.database, 'SELECT title FROM apps ORDER BY id').map(({ title }) => title)

test('there are never more applications than the bound: those that called longest ago are dropped', () => {
  const apps = prepareApps(opened.database, 20)
  const idOf = (title: string, at = NOON): number | null => {
    const ids = apps.begin()
    const id = ids.idOf('https://a.example', title, at)
    ids.keep()
    return id
  }
  const first = idOf('first')
  for (let n = 0; n < 200; n++) {
    idOf(`app ${n}`, NOON + n)
    // It goes on calling.
    if (n % 10 === 0) idOf('first', NOON + DAY_MS)
    expect(titles().length).toBeLessThanOrEqual(20)
  }
  expect(idOf('first', NOON + DAY_MS)).toBe(first)
  // An id that has gone is not given out again.
  expect(Number(idOf('app 0'))).toBeGreaterThan(200)
})

test('a transaction that is rolled back leaves nothing behind', () => {
  const apps = prepareApps(opened.database, 20)
  opened.database.file.run('BEGIN')
  const lost = apps.begin()
  lost.idOf('https://a.example', 'lost', NOON)
  opened.database.file.run('ROLLBACK')
  const ids = apps.begin()
  const id = ids.idOf('https://a.example', 'lost', NOON)
  ids.keep()
  expect(rowsOf(opened.database, 'SELECT id FROM apps')).toEqual([{ id }])
})

test('applications are pruned by the day on which they called last', () => {
  const apps = prepareApps(opened.database)
  const ids = apps.begin()
  ids.idOf('', 'old', NOON - 10 * DAY_MS)
  const used = ids.idOf('', 'used', NOON - 10 * DAY_MS)
  ids.keep()
  const later = apps.begin()
  expect(later.idOf('', 'used', NOON)).toBe(used)
  later.keep()
  pruneApps(opened.database, NOON - 5 * DAY_MS)
  expect(titles()).toEqual(['used'])
  const again = apps.begin()
  expect(Number(again.idOf('', 'old', NOON))).toBeGreaterThan(Number(used))
  again.keep()
  expect(titles()).toEqual(['used', 'old'])
})
