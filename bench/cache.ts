import { join } from 'node:path'
import { type AnswerKind, MODELS, requestBody } from './answers.ts'
import { generateLoad } from './measure.ts'
import { aligned, markdown } from './print.ts'
import type { Settings } from './settings.ts'
import { ANSWER_NANO_USD, bookedNanoUsd, startSluice } from './sluice.ts'
import { median } from './statistics.ts'
import type { Target } from './target.ts'
import { startMock } from './targets.ts'

/** The same request with the cache off, as a cache miss, and as a cache hit. */

const ON = { 'x-openrouter-cache': 'true' }
const WAYS = [
  { name: 'off', headers: {}, isAgain: false },
  { name: 'miss', headers: { ...ON, 'x-openrouter-cache-clear': 'true' }, isAgain: false },
  { name: 'hit', headers: ON, isAgain: true },
] as const
const KINDS: readonly { kind: AnswerKind; model: string; name: string }[] = [
  { kind: 'unary', model: MODELS.burst, name: 'unary' },
  { kind: 'stream', model: MODELS.steps, name: 'stream of 50 chunks' },
]
const WARMUP_MS = 300
/** Of the processor time without a cache: what keeping an answer may add. */
const MISS_GOAL = 1.15

interface Row {
  kind: (typeof KINDS)[number]
  way: (typeof WAYS)[number]
  micros: number[]
  p50: number[]
}

/** Keeps the answer that hits are given; those of the measured misses are forgotten one by one. */
async function keepOne(target: Target, body: string): Promise<void> {
  const reply = await fetch(`http://127.0.0.1:${target.port}${target.path}`, {
    method: 'POST',
    headers: { ...ON, authorization: `Bearer ${target.keys[0]}`, 'content-type': 'application/json' },
    body,
  })
  await reply.text()
}

/** Prints the table; true when every answer was correct and on the ledger. */
export async function benchCache(settings: Settings, folder: string): Promise<boolean> {
  const mock = await startMock()
  const target = await startSluice({
    upstreamPort: mock.port,
    folder: join(folder, 'sluice'),
    fromSource: settings.fromSource,
    bunFlags: [],
  })
  const rows: Row[] = KINDS.flatMap((kind) => WAYS.map((way) => ({ kind, way, micros: [], p50: [] })))
  let paid = 0
  let errors = 0
  for (let round = 0; round <= settings.rounds; round++) {
    process.stderr.write(round === 0 ? 'for the compiler\n' : `round ${round} of ${settings.rounds}\n`)
    for (const { kind, way, micros, p50 } of rows) {
      const body = requestBody(kind.model, kind.kind)
      // The last misses have stored it, except before the first run.
      if (way.isAgain) await keepOne(target, body)
      const { port, path, keys, pid } = target
      const load = { port, path, keys, pid, body, headers: way.headers, isAgain: way.isAgain }
      const pace = { concurrency: 64, warmupMs: WARMUP_MS, durationMs: settings.turnMs }
      const result = await generateLoad({ ...load, ...pace, kind: kind.kind })
      errors += result.errors
      if (!way.isAgain) paid += result.completed
      for (const fault of result.faults) process.stderr.write(`${kind.name}, ${way.name}: ${fault}\n`)
      if (round === 0 || result.cpuMicros === null) continue
      micros.push(result.cpuMicros)
      p50.push(result.p50Ms)
    }
  }
  const booked = await bookedNanoUsd(target)
  await target.stop()
  await mock.child.stop()
  const print = settings.isMarkdown ? markdown : aligned
  console.log(`Medians of ${settings.rounds} rounds of ${settings.turnMs / 1000} s, 64 callers.\n`)
  console.log(`${print(table(rows))}\n`)
  const isExact = booked === paid * ANSWER_NANO_USD
  console.log(
    `Ledger: ${paid} answers paid, USD ${(booked / 1e9).toFixed(6)}: ${isExact ? 'equal' : 'NOT equal'} to the nano-dollar.`,
  )
  return errors === 0 && isExact
}

function table(rows: readonly Row[]): string[][] {
  const cells = ({ kind, way, micros, p50 }: Row): string[] => {
    const usual = rows.find((row) => row.kind === kind && row.way.name === 'off')
    const ratio = median(micros) / median(usual?.micros ?? [])
    const goal = { off: '', miss: `≤ ${MISS_GOAL}`, hit: '< 1' }[way.name]
    const isReached = way.name === 'miss' ? ratio <= MISS_GOAL : ratio < 1
    return [
      `${kind.name}, ${way.name}`,
      Math.round(median(micros)).toString(),
      ratio.toFixed(2),
      median(p50).toFixed(2),
      goal,
      goal === '' ? '' : isReached ? 'yes' : 'NO',
    ]
  }
  return [['', 'CPU µs', 'ratio', 'p50, ms', 'goal', 'reached'], ...rows.map(cells)]
}
