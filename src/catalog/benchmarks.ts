import { readFileSync } from 'node:fs'
import { isObject } from '../core/json.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { ModelScores } from '../core/snapshot.ts'
import { CATEGORIES } from './categories.ts'

/** The entry of a model in the benchmark file. The operator chooses the source. */
interface Benchmarks {
  readonly scores: ModelScores
  readonly categories: readonly string[]
}

/** By model id, as the catalogue or an entry has it. */
export type BenchmarksById = ReadonlyMap<string, Benchmarks>

const SCORES = {
  intelligence_index: { name: 'intelligenceIndex', most: 1_000 },
  coding_index: { name: 'codingIndex', most: 1_000 },
  agentic_index: { name: 'agenticIndex', most: 1_000 },
  design_arena_elo: { name: 'designArenaElo', most: 10_000 },
  tool_success_rate: { name: 'toolSuccessRate', most: 1 },
} as const
type ScoreKey = keyof typeof SCORES
const isScoreKey = (name: string): name is ScoreKey => Object.hasOwn(SCORES, name)
const KNOWN = [...Object.keys(SCORES), 'categories'].join(', ')

/**
 * Reads the file of scores: `{"author/slug": {"intelligence_index": 51, "categories": ["programming"]}}`. Ids that no
 * model has are ignored: such files cover all models of the world.
 */
export function readBenchmarks(path: string): { benchmarks: BenchmarksById; problems: ConfigProblem[] } {
  let file: unknown
  try {
    file = JSON.parse(readFileSync(path, 'utf8'))
  } catch (error) {
    const why = error instanceof SyntaxError ? 'is not JSON' : 'cannot be read'
    return { benchmarks: new Map(), problems: [{ path: 'SLUICE_BENCHMARKS', message: `${path} ${why}` }] }
  }
  return parseBenchmarks(file, path)
}

/** `where` precedes the places of problems. */
export function parseBenchmarks(
  file: unknown,
  where: string,
): { benchmarks: BenchmarksById; problems: ConfigProblem[] } {
  const problems: ConfigProblem[] = []
  const benchmarks = new Map<string, Benchmarks>()
  if (!isObject(file))
    return { benchmarks, problems: [{ path: where, message: 'must be an object of models' }] }
  for (const [id, row] of Object.entries(file)) {
    const place = `${where} ${JSON.stringify(id)}`
    if (isObject(row)) benchmarks.set(id, rowOf(row, place, problems))
    else problems.push({ path: place, message: 'must be an object of scores' })
  }
  return { benchmarks, problems }
}

function rowOf(row: Record<string, unknown>, place: string, problems: ConfigProblem[]): Benchmarks {
  const { categories = [], ...written } = row
  const scores = readScores(written, place, problems)
  if (isCategories(categories)) return { scores, categories }
  problems.push({ path: `${place}.categories`, message: `must be a list of ${CATEGORIES.join(', ')}` })
  return { scores, categories: [] }
}

/** Scores by their names in files; each invalid one is a problem. */
export function readScores(
  written: Record<string, unknown>,
  place: string,
  problems: ConfigProblem[],
): ModelScores {
  const scores: Record<string, number> = {}
  for (const [key, value] of Object.entries(written)) {
    const path = `${place}.${key}`
    if (!isScoreKey(key)) problems.push({ path, message: `is unknown; allowed are ${KNOWN}` })
    else if (typeof value === 'number' && value >= 0 && value <= SCORES[key].most)
      scores[SCORES[key].name] = value
    else problems.push({ path, message: `must be a number from 0 to ${SCORES[key].most}` })
  }
  return scores
}

const isCategories = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((name) => CATEGORIES.some((known) => known === name))
