import { afterEach, expect, test } from 'bun:test'
import { readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startUpkeep } from '../../src/server/upkeep.ts'
import { type Gateway, startGateway } from '../gateway.ts'

const NOW = Date.UTC(2026, 6, 15, 12)
const DAY_MS = 86_400_000

let gateway: Gateway
const start = async (environment: Record<string, string> = {}) => {
  gateway = await startGateway({ now: () => NOW, environment })
}
afterEach(() => gateway.stop())

const copies = () =>
  readdirSync(gateway.folder)
    .filter((name) => name.includes('.before-'))
    .sort()

/** Copies of this many days. */
function putCopies(...days: number[]): void {
  for (const age of days) {
    const path = join(gateway.folder, `sluice.db.before-${String(age).padStart(4, '0')}_next`)
    writeFileSync(path, '')
    utimesSync(path, NOW / 1000, (NOW - age * DAY_MS) / 1000)
  }
}

test('a copy of the ledger from before a migration goes after thirty days', async () => {
  await start()
  putCopies(1, 29, 30, 400)
  await (await startUpkeep(gateway.bodies, gateway.deps, 0)).stop()
  expect(copies()).toEqual(['sluice.db.before-0001_next', 'sluice.db.before-0029_next'])
})

test('it is deleted with the rows that are in it if their retention is shorter', async () => {
  await start({ SLUICE_LEDGER_RETENTION_DAYS: '7' })
  putCopies(6, 7, 8)
  await (await startUpkeep(gateway.bodies, gateway.deps, 0)).stop()
  expect(copies()).toEqual(['sluice.db.before-0006_next'])
})

test('nothing else of the folder is touched', async () => {
  await start()
  const before = readdirSync(gateway.folder).sort()
  await (await startUpkeep(gateway.bodies, gateway.deps, 0)).stop()
  expect(readdirSync(gateway.folder).sort()).toEqual(before)
})
