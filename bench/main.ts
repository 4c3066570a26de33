import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { benchCache } from './cache.ts'
import { benchCatalog } from './catalog.ts'
import { benchDialects } from './dialects.ts'
import { benchFilters } from './filters.ts'
import { benchHostile } from './hostile.ts'
import { benchLedger } from './ledger.ts'
import type { LoadResult } from './load.ts'
import { describeMachine } from './machine.ts'
import { measure, OPEN_STREAMS, SCENARIO_NAMES, SCENARIOS } from './measure.ts'
import { aligned, goalRows, markdown } from './print.ts'
import { residentBytes } from './proc.ts'
import { killAll, openFileLimits } from './process.ts'
import { profilerFlags, profileScenario } from './profile.ts'
import { goals, type Measured, type Measurements, table } from './report.ts'
import { type Bench, readSettings, type Settings, USAGE } from './settings.ts'
import { ANSWER_NANO_USD, bookedNanoUsd, hasBinary } from './sluice.ts'
import { benchSnapshot } from './snapshot.ts'
import type { StartOptions, Target, TargetName } from './target.ts'
import { startMock, startTarget } from './targets.ts'

const WARMUP_MS = 250
/** What a gateway uses up for each open stream: a socket to the caller and one to the provider. */
const FILES_WANTED = 2 * OPEN_STREAMS.concurrency + 500

const progress = (text: string) => process.stderr.write(`${text}\n`)

/** Starts the target several times in one folder and leaves the last one running, idle for a second. */
async function startMeasured(name: TargetName, options: StartOptions, settings: Settings) {
  const coldStartsMs: number[] = []
  let target: Target | null = null
  for (let count = 0; count < settings.coldStarts; count++) {
    await target?.stop()
    target = await startTarget(name, options)
    if (target === null) return null
    if (target.coldStartMs === null) break
    coldStartsMs.push(target.coldStartMs)
  }
  if (target === null) return null
  await Bun.sleep(target.pid === null ? 0 : 1000)
  const measured: Measured = {
    rounds: { unaryAlone: [], unary: [], steps: [], burst: [] },
    openStreams: null,
    coldStartsMs,
    idleBytes: target.pid === null ? null : residentBytes(target.pid),
  }
  return { target, measured }
}

type Running = NonNullable<Awaited<ReturnType<typeof startMeasured>>>

/** A B C D, A B C D, …: what else the machine does meets all targets alike. */
async function measureInTurns(
  all: readonly Running[],
  settings: Settings,
  count: (result: LoadResult, running: Running) => void,
) {
  // A gateway runs for weeks: what is measured is warm code, the same for all.
  for (const running of all) {
    for (const name of ['unary', 'steps', 'burst'] as const) {
      count(await measure(running.target, SCENARIOS[name], 0, settings.warmMs), running)
    }
  }
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`round ${round} of ${settings.rounds}`)
    for (const scenario of SCENARIO_NAMES) {
      for (const running of all) {
        const result = await measure(running.target, SCENARIOS[scenario], WARMUP_MS, settings.turnMs)
        running.measured.rounds[scenario].push(result)
        count(result, running)
      }
    }
  }
  progress(`${OPEN_STREAMS.concurrency} open streams`)
  for (const running of all) {
    const result = await measure(running.target, OPEN_STREAMS, 0, 0)
    running.measured.openStreams = result
    count(result, running)
  }
}

/** Every answer that was counted must be on the ledger, to the nano-dollar. */
async function checkLedger(running: Running | undefined, answers: number, errors: number): Promise<string> {
  if (running === undefined) return ''
  const booked = await bookedNanoUsd(running.target)
  const due = answers * ANSWER_NANO_USD
  const sums = `${answers} answers counted, USD ${(booked / 1e9).toFixed(6)} on the ledger`
  if (booked === due) return `Ledger: ${sums}: equal to the nano-dollar.`
  return `Ledger: ${sums}, USD ${(due / 1e9).toFixed(6)} due (${errors} answers failed).`
}

async function bench(settings: Settings, folder: string): Promise<boolean> {
  const files = await openFileLimits()
  const machine = describeMachine(folder, files)
  if (files.hard < FILES_WANTED) {
    progress(`Only ${files.hard} files may be open: 2,000 streams need ${FILES_WANTED}. Raise "ulimit -Hn".`)
  }
  const mock = await startMock()
  const all: Running[] = []
  for (const name of settings.targets) {
    progress(`starting ${name}`)
    const options = {
      upstreamPort: mock.port,
      folder: join(folder, name),
      fromSource: settings.fromSource,
      bunFlags: [],
    }
    const running = await startMeasured(name, options, settings)
    if (running === null) progress(`${name} is not installed: left out`)
    else all.push(running)
  }
  let errors = 0
  let answers = 0
  await measureInTurns(all, settings, (result, { target }) => {
    errors += result.errors
    if (target.name === 'sluice') answers += result.completed
    for (const fault of result.faults) progress(`${target.name}: ${fault}`)
  })
  const sluice = all.find(({ target }) => target.name === 'sluice')
  const ledger = await checkLedger(sluice, answers, errors)
  for (const { target } of all) await target.stop()
  await mock.child.stop()

  const measurements: Measurements = {}
  for (const { target, measured } of all) measurements[target.name] = measured
  const print = settings.isMarkdown ? markdown : aligned
  const kind = settings.fromSource || !hasBinary() ? 'from source' : 'dist/sluice'
  console.log(
    `${machine}. Sluice: ${kind}. Medians of ${settings.rounds} rounds of ${settings.turnMs / 1000} s.\n`,
  )
  console.log(`${print(table(measurements))}\n`)
  if (sluice !== undefined) console.log(`${print(goalRows(goals(measurements)))}\n\n${ledger}`)
  return errors === 0
}

async function profile(folder: string): Promise<boolean> {
  const mock = await startMock()
  for (const scenario of ['unary', 'steps', 'burst'] as const) {
    const inside = join(folder, scenario)
    const options = {
      upstreamPort: mock.port,
      folder: inside,
      fromSource: true,
      bunFlags: profilerFlags(inside),
    }
    const target = await startTarget('sluice', options)
    if (target !== null) await profileScenario(target, scenario, inside)
  }
  await mock.child.stop()
  return true
}

const benches = {
  gateway: bench,
  dialects: benchDialects,
  catalog: benchCatalog,
  filters: benchFilters,
  cache: benchCache,
  ledger: benchLedger,
  hostile: benchHostile,
  snapshot: benchSnapshot,
} satisfies Record<Bench, unknown>

async function main(settings: Settings): Promise<number> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-bench-'))
  const cleanUp = () => {
    killAll()
    if (!settings.isProfile) rmSync(folder, { recursive: true, force: true })
  }
  const interrupt = () => {
    cleanUp()
    process.exit(130)
  }
  process.on('SIGINT', interrupt)
  process.on('SIGTERM', interrupt)
  try {
    const isGood = settings.isProfile
      ? await profile(folder)
      : await benches[settings.bench](settings, folder)
    return isGood ? 0 : 1
  } catch (error) {
    progress(error instanceof Error ? error.message : String(error))
    return 1
  } finally {
    cleanUp()
  }
}

function settingsOrExit(): Settings | null {
  try {
    return readSettings(process.argv.slice(2))
  } catch (error) {
    progress(`${error instanceof Error ? error.message : error}\n\n${USAGE}`)
    process.exit(2)
  }
}

if (import.meta.main) {
  const settings = settingsOrExit()
  if (settings === null) console.log(USAGE)
  else process.exit(await main(settings))
}
