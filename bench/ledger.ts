import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { DATABASE_FILE } from '../src/db/database.ts'
import { formatReport, verifyFile } from '../src/ledger/verify.ts'
import { ledgerProviders } from './ledger/asks.ts'
import { bursts, burstTable } from './ledger/burst.ts'
import { gatedKeys, openKeys } from './ledger/gates.ts'
import { killAgainAndAgain, killTable } from './ledger/kills.ts'
import { arePairsGood, comparePairs, pairTable } from './ledger/pairs.ts'
import { isQueryGood, queryLatencies, queryTable } from './ledger/queries.ts'
import { rowsThatFit, seed, seedTable } from './ledger/seed.ts'
import { diskLatencies, isSettleGood, settleBoth, settleTable } from './ledger/settles.ts'
import { isStartGood, startTable, startTimes } from './ledger/starts.ts'
import { describeMachine } from './machine.ts'
import { aligned, markdown } from './print.ts'
import { openFileLimits } from './process.ts'
import type { LedgerStep, Settings } from './settings.ts'
import { hasBinary, startSluice } from './sluice.ts'
import type { StartOptions } from './target.ts'
import { startMock } from './targets.ts'

/** Whether money is enforced and kept: each step prints its own table, and can be run alone. */

const QUERY_TIMES = 100
const COLD_STARTS = 5
/** Kills are survived on a ledger of this size. */
const KILLED_ROWS = 1_000_000
const SEEDED_STEPS: readonly LedgerStep[] = ['start', 'queries', 'cpu', 'settle', 'verify']

const progress = (text: string) => process.stderr.write(`${text}\n`)

interface Surroundings {
  settings: Settings
  folder: string
  /** The folder of the seeded ledger. */
  seeded: string
  print(rows: readonly string[][]): void
  optionsFor(folder: string): StartOptions
}

export async function benchLedger(settings: Settings, folder: string): Promise<boolean> {
  const { ledger } = settings
  const mock = await startMock()
  const table = settings.isMarkdown ? markdown : aligned
  const surroundings: Surroundings = {
    settings,
    folder,
    seeded: resolve(ledger.folder ?? join(folder, 'seeded')),
    print: (rows) => console.log(`${table(rows)}\n`),
    optionsFor: (inside) => ({
      upstreamPort: mock.port,
      folder: inside,
      fromSource: settings.fromSource,
      bunFlags: [],
      providers: ledgerProviders(mock.port),
    }),
  }
  const kind = settings.fromSource || !hasBinary() ? 'from source' : 'dist/sluice'
  console.log(`${describeMachine(folder, await openFileLimits())}. Sluice: ${kind}.\n`)
  if (ledger.steps.some((step) => SEEDED_STEPS.includes(step)))
    await seedOnce(surroundings, surroundings.seeded, ledger.rows)
  let isGood = true
  for (const step of ledger.steps) {
    progress(`ledger: ${step}`)
    isGood = (await STEPS[step](surroundings)) && isGood
  }
  await mock.child.stop()
  return isGood
}

/** A folder that has a ledger already is taken as it is. */
async function seedOnce({ print }: Surroundings, folder: string, wanted: number): Promise<void> {
  if (existsSync(join(folder, 'data', DATABASE_FILE))) return
  const rows = rowsThatFit(folder, wanted)
  if (rows < wanted) console.log(`There is no room for ${wanted} generations here: ${rows} are seeded.\n`)
  print(seedTable(await seed(folder, rows, progress)))
}

const STEPS: Record<LedgerStep, (surroundings: Surroundings) => Promise<boolean>> = {
  burst: stepBurst,
  kill: stepKill,
  gates: stepGates,
  start: stepStart,
  queries: stepQueries,
  cpu: stepCpu,
  settle: stepSettle,
  verify: stepVerify,
}

async function stepBurst({ folder, optionsFor, print }: Surroundings): Promise<boolean> {
  const inside = join(folder, 'burst')
  const target = await startSluice({ ...optionsFor(inside), keys: 0 })
  const rows = await bursts(target)
  await target.stop()
  print(burstTable(rows))
  return rows.every(({ isGood }) => isGood) && isVerified(inside)
}

async function stepKill(surroundings: Surroundings): Promise<boolean> {
  const { settings, folder, optionsFor, print } = surroundings
  const inside = join(folder, 'killed')
  await seedOnce(surroundings, inside, Math.min(KILLED_ROWS, settings.ledger.rows))
  const report = await killAgainAndAgain(optionsFor(inside), settings.ledger.kills, progress)
  print(killTable(report))
  for (const fault of [...report.lost, ...report.doubled, ...report.differences].slice(0, 20)) progress(fault)
  return report.isGood
}

async function stepGates({ settings, folder, optionsFor, print }: Surroundings): Promise<boolean> {
  const { pairs } = settings.ledger
  const open = await startSluice({ ...optionsFor(join(folder, 'open')), keys: 0 })
  const gated = await startSluice({ ...optionsFor(join(folder, 'gated')), keys: 0 })
  const keys = await gatedKeys(gated)
  const base = { name: 'no gate', target: open, keys: await openKeys(open) }
  const every = { name: 'every gate', target: gated, keys: keys.plain }
  const filtered = { name: '20 filters besides', target: gated, keys: keys.filtered }
  const spec = { pairs, turnMs: settings.turnMs }
  const rows = await comparePairs(base, every, spec, progress)
  print(pairTable(base.name, every.name, rows))
  const withFilters = await comparePairs(every, filtered, spec, progress)
  print(pairTable(every.name, filtered.name, withFilters, false))
  await open.stop()
  await gated.stop()
  return arePairsGood(rows) && isVerified(join(folder, 'gated'))
}

async function stepStart({ seeded, optionsFor, print }: Surroundings): Promise<boolean> {
  const rows = await startTimes(optionsFor(seeded), COLD_STARTS)
  print(startTable(rows))
  return rows.every(isStartGood)
}

async function stepQueries({ seeded, optionsFor, print }: Surroundings): Promise<boolean> {
  const target = await startSluice({ ...optionsFor(seeded), keys: 0 })
  const rows = await queryLatencies(target, seeded, QUERY_TIMES)
  await target.stop()
  print(queryTable(rows))
  return rows.every(isQueryGood)
}

async function stepCpu({ settings, folder, seeded, optionsFor, print }: Surroundings): Promise<boolean> {
  const empty = { name: 'empty', target: await startSluice(optionsFor(join(folder, 'empty'))) }
  const full = { name: 'seeded', target: await startSluice(optionsFor(seeded)) }
  const spec = { pairs: settings.ledger.pairs, turnMs: settings.turnMs }
  const rows = await comparePairs(empty, full, spec, progress)
  await empty.target.stop()
  await full.target.stop()
  print(pairTable(empty.name, full.name, rows))
  return arePairsGood(rows)
}

async function stepSettle({ folder, seeded, optionsFor, print }: Surroundings): Promise<boolean> {
  const inside = join(folder, 'settled')
  // A first run, so that there is a database.
  await (await startSluice({ ...optionsFor(inside), keys: 0 })).stop()
  const rows = [
    await diskLatencies(inside),
    ...(await settleBoth('empty', inside)),
    ...(await settleBoth('seeded', seeded)),
  ]
  print(settleTable(rows))
  return rows.every(isSettleGood)
}

async function stepVerify({ seeded }: Surroundings): Promise<boolean> {
  return isVerified(seeded)
}

function isVerified(folder: string): boolean {
  const startedAt = performance.now()
  const report = verifyFile(join(folder, 'data', DATABASE_FILE))
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  console.log(`verify, ${seconds} s: ${formatReport(report).slice(-5).join('\n')}\n`)
  return report.differences.length === 0
}
