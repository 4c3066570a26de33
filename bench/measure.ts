import { join } from 'node:path'
import { type AnswerKind, MODELS, requestBody } from './answers.ts'
import type { LoadResult, LoadSpec } from './load.ts'
import { spawn } from './process.ts'
import type { Target } from './target.ts'

export interface Scenario {
  /** The row of the table; its rates and times follow. */
  title: string
  kind: AnswerKind
  model: string
  concurrency: number
  /** Characters of the prompt; absent: a request of 1 kB. */
  promptCharacters?: number
}

export const SCENARIOS = {
  unaryAlone: { title: 'unary, 1 caller', kind: 'unary', model: MODELS.burst, concurrency: 1 },
  unaryFew: { title: 'unary, 10 callers', kind: 'unary', model: MODELS.burst, concurrency: 10 },
  unary: { title: 'unary, 64 callers', kind: 'unary', model: MODELS.burst, concurrency: 64 },
  unaryMany: { title: 'unary, 512 callers', kind: 'unary', model: MODELS.burst, concurrency: 512 },
  medium: {
    title: 'unary, answer of 16 kB, 64 callers',
    kind: 'unary',
    model: MODELS.medium,
    concurrency: 64,
  },
  large: {
    title: 'unary, answer of 200 kB, 64 callers',
    kind: 'unary',
    model: MODELS.large,
    concurrency: 64,
  },
  prompt: {
    title: 'unary, prompt of 100 kB, 64 callers',
    kind: 'unary',
    model: MODELS.burst,
    concurrency: 64,
    promptCharacters: 100_000,
  },
  streamAlone: {
    title: 'stream of 50 chunks, 1 caller',
    kind: 'stream',
    model: MODELS.steps,
    concurrency: 1,
  },
  steps: {
    title: 'stream of 50 chunks, a write each, 64 callers',
    kind: 'stream',
    model: MODELS.steps,
    concurrency: 64,
  },
  burst: {
    title: 'stream of 50 chunks in one write, 64 callers',
    kind: 'stream',
    model: MODELS.burst,
    concurrency: 64,
  },
  longSteps: {
    title: 'stream of 2,000 chunks, a write each, 10 callers',
    kind: 'stream',
    model: MODELS.longSteps,
    concurrency: 10,
  },
  longBurst: {
    title: 'stream of 2,000 chunks in one write, 10 callers',
    kind: 'stream',
    model: MODELS.longBurst,
    concurrency: 10,
  },
} satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof SCENARIOS

const isScenario = (name: string): name is ScenarioName => name in SCENARIOS
export const SCENARIO_NAMES: readonly ScenarioName[] = Object.keys(SCENARIOS).filter(isScenario)
/** What `--smoke` runs. */
export const SMOKE_NAMES: readonly ScenarioName[] = ['unaryAlone', 'unary', 'steps', 'burst', 'large']

export const openStreams = (concurrency: number): Scenario => ({
  title: `${concurrency.toLocaleString('en')} open streams`,
  kind: 'stream',
  model: MODELS.trickle,
  concurrency,
})
export const OPEN_STREAMS = [2_000, 10_000] as const

/** How long a load runs: a time behind a warm-up, or a number of answers. */
export type Pace = { warmupMs: number; durationMs: number } | { requests: number }

/** One run of the load generator, in a process of its own. A `durationMs` of 0: each connection asks once. */
export async function measure(target: Target, scenario: Scenario, pace: Pace): Promise<LoadResult> {
  const { kind, model, concurrency, promptCharacters } = scenario
  const asked = `${target.modelPrefix ?? ''}${model}`
  return generateLoad({
    port: target.port,
    path: target.path,
    kind,
    model,
    body: requestBody(asked, kind, promptCharacters),
    keys: target.keys,
    concurrency,
    pid: target.pid,
    ...('requests' in pace ? { warmupMs: 0, durationMs: 0, requests: pace.requests } : pace),
  })
}

/** Runs the load generator in a process of its own. */
export async function generateLoad(spec: LoadSpec): Promise<LoadResult> {
  const command = [process.execPath, join(import.meta.dir, 'load.ts')]
  const child = spawn({ place: 'bench', command, input: JSON.stringify(spec) })
  const text = await child.text()
  const code = await child.exited
  if (code !== 0) throw new Error(`The load generator ended with ${code}.`)
  const result: LoadResult = JSON.parse(text)
  return result
}
