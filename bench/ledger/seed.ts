import { mkdirSync, statfsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Settlement } from '../../src/core/generation.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { DATABASE_FILE, type Database, openDatabase } from '../../src/db/database.ts'
import { migrate } from '../../src/db/migrations.ts'
import { prepareCommit } from '../../src/ledger/batch.ts'
import { prepareFolding } from '../../src/ledger/folding.ts'
import { type NewRow, rowOf } from '../../src/ledger/row.ts'
import { chargedScopes } from '../../src/ledger/row-values.ts'
import { hourStart } from '../../src/ledger/windows.ts'
import { ensureFirstRun } from '../../src/server/first-run.ts'
import { makeWorld, type SeededKey, type World } from './world.ts'

/** What a row takes with its indexes, its part of the hourly sums, and some room. */
const BYTES_PER_ROW = 1200
const HOUR_MS = 3_600_000
const YEAR_MS = 365 * 24 * HOUR_MS
/** So many keys are in use in any one hour. */
const KEYS_IN_USE = 80

export interface Seeded {
  rows: number
  seconds: number
  bytes: number
  hours: number
}

/** The requested number of rows, or a million if the disk has no room for more; otherwise throws with the missing space. */
export function rowsThatFit(folder: string, wanted: number): number {
  mkdirSync(folder, { recursive: true })
  const { bavail, bsize } = statfsSync(folder)
  const fitting = (bavail * bsize) / BYTES_PER_ROW
  if (wanted <= fitting) return wanted
  const fewer = Math.min(wanted, 1_000_000)
  if (fewer <= fitting) return fewer
  throw new Error(`${folder} has room for ${Math.floor(fitting)} generations: ${fewer} need more`)
}

/**
 * A data folder with a year of generations, spread evenly up to now. They are written by the ledger's own commit, an
 * hour in each, so counters and hourly sums are what they would be; only the safety of the disk is turned off, which a
 * seeder can do without.
 */
export async function seed(
  folder: string,
  rows: number,
  onProgress: (text: string) => void,
): Promise<Seeded> {
  const data = join(folder, 'data')
  mkdirSync(data, { recursive: true })
  const path = join(data, DATABASE_FILE)
  const database = openDatabase(path)
  migrate(database)
  await ensureFirstRun(database, { managementKey: null, apiKey: null, adminEmail: null, adminPassword: null })
  const world = await makeWorld(database)
  const startedAt = performance.now()
  for (const pragma of ['journal_mode = OFF', 'synchronous = OFF', 'cache_size = -1048576'])
    database.file.run(`PRAGMA ${pragma}`)
  writeYear(database, world, rows, (done) => {
    const seconds = (performance.now() - startedAt) / 1000
    onProgress(`${done} of ${rows} rows, ${Math.round(done / seconds)} rows/s`)
  })
  const hours = database.file.query<{ n: number }, []>('SELECT count(*) AS n FROM usage_hourly').get()
  database.file.run('PRAGMA journal_mode = WAL')
  database.close()
  return {
    rows,
    seconds: (performance.now() - startedAt) / 1000,
    bytes: statSync(path).size,
    hours: hours?.n ?? 0,
  }
}

export const seedTable = ({ rows, seconds, bytes, hours }: Seeded): string[][] => [
  ['seeded generations', 'hourly sums', 'rows/s', 'minutes', 'GB'],
  [
    String(rows),
    String(hours),
    (rows / seconds).toFixed(0),
    (seconds / 60).toFixed(1),
    (bytes / 1e9).toFixed(1),
  ],
]

function writeYear(database: Database, world: World, rows: number, onProgress: (done: number) => void): void {
  const folding = prepareFolding(database)
  const commitRows = prepareCommit(database, folding)
  const commit = (settled: readonly NewRow[]): void => {
    commitRows({ settled, journaled: [], forgotten: [] })
    folding.fold()
  }
  const random = seeded(20_261_121)
  const until = Date.now()
  const stepMs = YEAR_MS / rows
  let hour = 0
  let batch: NewRow[] = []
  let inUse: readonly SeededKey[] = world.keys
  for (let index = 0; index < rows; index++) {
    const at = Math.floor(until - YEAR_MS + index * stepMs)
    if (hourStart(at) !== hour) {
      commit(batch)
      batch = []
      hour = hourStart(at)
      inUse = Array.from({ length: KEYS_IN_USE }, () => pick(world.keys, random() ** 2))
    }
    batch.push(generation(pick(inUse, random()), at, random))
    if (index % 1_000_000 === 999_999) onProgress(index + 1)
  }
  commit(batch)
}

const APP = {
  origin: 'https://app.example',
  httpReferer: 'https://app.example/chat',
  title: 'App',
  userAgent: 'openai-node/7.55.0',
}

/** As an ordinary request has it. */
const ROUTING = '[2,0.31,0.02,98.4,1.27,200.05]'

function generation(key: SeededKey, at: number, random: () => number): NewRow {
  const model = key.models[random() < 0.85 ? 0 : 1]
  const isFailed = random() < 0.03
  const isByok = random() < 0.05
  const inputTokens = 50 + Math.floor(random() * 4000)
  const outputTokens = isFailed ? 0 : 10 + Math.floor(random() * 900)
  const digits = Bun.randomUUIDv7('hex', at).replaceAll('-', '')
  const latencyMs = 100 + random() * 900
  const settlement: Settlement = {
    generationId: `gen-${digits}`,
    keyHash: key.hash,
    workspaceId: key.workspaceId,
    modelId: model.id,
    providerSlug: model.providerSlug,
    providerName: model.providerName,
    endpointId: model.endpointId,
    apiType: 'completions',
    streamed: random() < 0.7,
    isByok,
    ...APP,
    requestId: `req-${digits}`,
    sessionId: null,
    externalUser: `customer-${Math.floor(random() * 1000)}`,
    startedAt: at,
    promptTokensEstimate: inputTokens,
    promptCostNanoUsd: inputTokens * model.price,
    upstreamId: `chatcmpl-${digits}`,
    finishReason: isFailed ? 'error' : 'stop',
    nativeFinishReason: isFailed ? null : 'stop',
    cancelled: false,
    usage: {
      ...NO_USAGE,
      inputTokens,
      cacheReadTokens: Math.floor(random() * 2000),
      outputTokens,
      reasoningTokens: Math.floor(outputTokens / 3),
    },
    usageSource: isFailed ? 'none' : 'provider',
    costNanoUsd: isFailed ? 0 : inputTokens * model.price + outputTokens * 4 * model.price,
    cacheDiscountNanoUsd: null,
    latencyMs,
    generationTimeMs: latencyMs + outputTokens * 12,
    endedAt: Math.floor(at + latencyMs + outputTokens * 12),
    serviceTier: null,
    router: 'direct',
    routing: ROUTING,
    tries: [
      {
        endpointId: model.endpointId,
        upstreamId: `chatcmpl-${digits}`,
        latencyMs,
        modelId: model.id,
        providerSlug: model.providerSlug,
        providerName: model.providerName,
        status: isFailed ? 500 : 200,
        code: null,
      },
    ],
  }
  const { guardrailId } = key
  return rowOf(
    settlement,
    guardrailId === null ? null : chargedScopes([{ scope: 'guardrail', id: guardrailId }]),
  )
}

/** The same year each time; linear congruential, as good as rows need. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

function pick<T>(list: readonly T[], share: number): T {
  const found = list[Math.min(list.length - 1, Math.floor(share * list.length))]
  if (found === undefined) throw new Error('nothing to pick from')
  return found
}
