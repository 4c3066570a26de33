/** The gateway beside a bare proxy, nginx, no gateway at all, and other gateways that are installed. */
import { join } from 'node:path'
import type { LoadResult } from './load.ts'
import { describeMachine } from './machine.ts'
import {
  measure,
  OPEN_STREAMS,
  openStreams,
  SCENARIO_NAMES,
  SCENARIOS,
  type ScenarioName,
  SMOKE_NAMES,
} from './measure.ts'
import { type Peer, readPeers, startPeer } from './peers.ts'
import { aligned, goalRows, markdown } from './print.ts'
import { residentBytes } from './proc.ts'
import { openFileLimits } from './process.ts'
import { goals, type Measured, type Measurements, table } from './report.ts'
import type { Settings } from './settings.ts'
import { ANSWER_NANO_USD, bookedNanoUsd, hasBinary } from './sluice.ts'
import { isTargetName, type StartOptions, type Target } from './target.ts'
import { startMock, startTarget } from './targets.ts'

const WARMUP_MS = 250
/** What is measured "after a start": before the compiler has seen much of the code. */
const FIRST_REQUESTS = 5_000

const progress = (text: string) => process.stderr.write(`${text}\n`)

interface Running {
  target: Target
  measured: Measured
}

type Count = (result: LoadResult, running: Running) => void

const start = (name: string, peers: readonly Peer[], options: StartOptions): Promise<Target | null> => {
  if (isTargetName(name)) return startTarget(name, options)
  const peer = peers.find((known) => known.name === name)
  return peer === undefined ? Promise.resolve(null) : startPeer(peer, options)
}

/** Starts the target several times in one folder and leaves the last one running, idle for a second. */
async function startMeasured(
  name: string,
  peers: readonly Peer[],
  options: StartOptions,
  settings: Settings,
) {
  const coldStartsMs: number[] = []
  let target: Target | null = null
  for (let count = 0; count < settings.coldStarts; count++) {
    await target?.stop()
    target = await start(name, peers, options)
    if (target === null) return null
    if (target.coldStartMs === null) break
    coldStartsMs.push(target.coldStartMs)
  }
  if (target === null) return null
  await Bun.sleep(target.pid === null ? 0 : 1000)
  const idleBytes = target.pid === null ? null : residentBytes(target.pid)
  const measured: Measured = { rounds: {}, openStreams: new Map(), coldStartsMs, idleBytes, first: null }
  return { target, measured }
}

/** The same number of requests for every target, so that the code is warm when it is measured. */
async function warmUp(
  { target, measured }: Running,
  settings: Settings,
  count: (result: LoadResult) => void,
) {
  measured.first = await measure(target, SCENARIOS.unary, { requests: FIRST_REQUESTS })
  count(measured.first)
  for (const name of ['unary', 'steps', 'burst'] as const)
    count(await measure(target, SCENARIOS[name], { requests: settings.warmUpRequests }))
}

/** A B C D, A B C D, …: what else the machine does meets all targets alike. */
async function measureInTurns(
  all: readonly Running[],
  names: readonly ScenarioName[],
  settings: Settings,
  count: Count,
) {
  for (const running of all) await warmUp(running, settings, (result) => count(result, running))
  const pace = { warmupMs: WARMUP_MS, durationMs: settings.turnMs }
  for (let round = 1; round <= settings.rounds; round++) {
    progress(`round ${round} of ${settings.rounds}`)
    for (const name of names) {
      for (const running of all) {
        const result = await measure(running.target, SCENARIOS[name], pace)
        running.measured.rounds[name] ??= []
        running.measured.rounds[name].push(result)
        count(result, running)
      }
    }
  }
}

async function measureOpenStreams(all: readonly Running[], mostFiles: number, count: Count) {
  for (const concurrency of OPEN_STREAMS) {
    // Each open stream takes a socket to the caller and one to the provider.
    if (mostFiles < 2 * concurrency + 500) {
      progress(
        `${concurrency} open streams need ${2 * concurrency + 500} open files; ${mostFiles} are allowed`,
      )
      continue
    }
    progress(`${concurrency} open streams`)
    for (const running of all) {
      const result = await measure(running.target, openStreams(concurrency), { warmupMs: 0, durationMs: 0 })
      running.measured.openStreams.set(concurrency, result)
      count(result, running)
    }
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

/** Prints the tables; true when every answer was right. */
export async function benchGateway(settings: Settings, folder: string): Promise<boolean> {
  const files = await openFileLimits()
  const machine = describeMachine(folder, files)
  const mock = await startMock()
  const peers = settings.peers === null ? [] : readPeers(settings.peers)
  const all: Running[] = []
  for (const name of [...settings.targets, ...peers.map((peer) => peer.name)]) {
    progress(`starting ${name}`)
    const options = {
      upstreamPort: mock.port,
      folder: join(folder, name),
      fromSource: settings.fromSource,
      bunFlags: [],
    }
    const running = await startMeasured(name, peers, options, settings)
    if (running === null) progress(`${name} is not installed: left out`)
    else all.push(running)
  }
  let errors = 0
  let answers = 0
  const count: Count = (result, { target }) => {
    errors += result.errors
    if (target.name === 'sluice') answers += result.completed
    for (const fault of result.faults) progress(`${target.name}: ${fault}`)
  }
  await measureInTurns(all, settings.isSmoke ? SMOKE_NAMES : SCENARIO_NAMES, settings, count)
  if (!settings.isSmoke) await measureOpenStreams(all, files.hard, count)
  const sluice = all.find(({ target }) => target.name === 'sluice')
  const ledger = await checkLedger(sluice, answers, errors)
  for (const { target } of all) await target.stop()
  await mock.child.stop()

  const measurements: Measurements = new Map(all.map(({ target, measured }) => [target.name, measured]))
  const print = settings.isMarkdown ? markdown : aligned
  const kind = settings.fromSource || !hasBinary() ? 'from source' : 'dist/sluice'
  console.log(
    `${machine}. Sluice: ${kind}. Medians of ${settings.rounds} rounds of ${settings.turnMs / 1000} s, after ${settings.warmUpRequests} requests of each kind.\n`,
  )
  console.log(`${print(table(measurements))}\n`)
  if (sluice !== undefined)
    console.log(`${print(goalRows(goals(measurements), settings.isSmoke))}\n\n${ledger}`)
  return errors === 0
}
