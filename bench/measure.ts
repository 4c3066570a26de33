import { join } from 'node:path'
import { type AnswerKind, MODELS, requestBody } from './answers.ts'
import type { LoadResult, LoadSpec } from './load.ts'
import { spawn } from './process.ts'
import type { Target } from './target.ts'

export interface Scenario {
  kind: AnswerKind
  model: string
  concurrency: number
}

export const SCENARIOS = {
  unaryAlone: { kind: 'unary', model: MODELS.burst, concurrency: 1 },
  unary: { kind: 'unary', model: MODELS.burst, concurrency: 64 },
  steps: { kind: 'stream', model: MODELS.steps, concurrency: 64 },
  burst: { kind: 'stream', model: MODELS.burst, concurrency: 64 },
} satisfies Record<string, Scenario>

export type ScenarioName = keyof typeof SCENARIOS

export const SCENARIO_NAMES: readonly ScenarioName[] = ['unaryAlone', 'unary', 'steps', 'burst']

export const OPEN_STREAMS: Scenario = { kind: 'stream', model: MODELS.trickle, concurrency: 2000 }

/** One run of the load generator, in a process of its own. `durationMs` 0: each connection asks once. */
export async function measure(
  target: Target,
  scenario: Scenario,
  warmupMs: number,
  durationMs: number,
): Promise<LoadResult> {
  return generateLoad({
    port: target.port,
    path: target.path,
    kind: scenario.kind,
    body: requestBody(scenario.model, scenario.kind),
    keys: target.keys,
    concurrency: scenario.concurrency,
    warmupMs,
    durationMs,
    pid: target.pid,
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
