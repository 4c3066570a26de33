import { join } from 'node:path'
import { DATABASE_FILE, openForReading } from '../../src/db/database.ts'
import { verifyFile } from '../../src/ledger/verify.ts'
import { BOOTSTRAP_KEY, startSluice } from '../sluice.ts'
import { percentile } from '../statistics.ts'
import type { StartOptions, Target } from '../target.ts'
import { ASKS, type Ask } from './asks.ts'

/** A gateway that is killed in the middle of mixed load, again and again, on a ledger with a million rows. */

const WORKERS = 15
/** Kills between verifications of the complete ledger. The answers are looked up after each kill. */
const KILLS_PER_VERIFY = 25

export interface KillReport {
  kills: number
  finished: number
  /** Sentences; empty when all is well. */
  lost: string[]
  doubled: string[]
  differences: string[]
  /** Settled by a later start, as sent and never finished. */
  recovered: number
  readyMs: number[]
  rows: number
  isGood: boolean
}

const READY_GOAL_MS = 1000

interface Answered {
  id: string
  referer: string
  ask: Ask
}

type Row = { id: string; referer: string; finish: string; cost: number }

export async function killAgainAndAgain(
  options: StartOptions,
  kills: number,
  onProgress: (text: string) => void,
): Promise<KillReport> {
  const path = join(options.folder, 'data', DATABASE_FILE)
  const random = seeded(20_261_121)
  const firstId = `gen-${Bun.randomUUIDv7('hex', Date.now()).replaceAll('-', '')}`
  const report: KillReport = {
    kills,
    finished: 0,
    lost: [],
    doubled: [],
    differences: [],
    recovered: 0,
    readyMs: [],
    rows: 0,
    isGood: false,
  }
  const all: Answered[] = []
  for (let kill = 1; kill <= kills; kill++) {
    const target = await startSluice({ ...options, keys: 0 })
    report.readyMs.push(target.readyMs ?? Number.NaN)
    const answered = await loadUntilKilled(target, kill, 5 + Math.floor(random() * 150))
    all.push(...answered)
    report.lost.push(...missing(rowsSince(path, firstId), answered))
    if (kill % KILLS_PER_VERIFY === 0) {
      report.differences.push(...verifyFile(path).differences)
      onProgress(`${kill} kills, ${all.length} finished answers, ${report.lost.length} lost`)
    }
  }
  const last = await startSluice({ ...options, keys: 0 })
  report.readyMs.push(last.readyMs ?? Number.NaN)
  await last.stop()
  const rows = rowsSince(path, firstId)
  report.lost.push(...missing(rows, all))
  report.doubled = doubled(rows, all)
  report.recovered = rows.filter(({ finish }) => finish === 'error').length
  report.finished = all.length
  const { differences, generations } = verifyFile(path)
  report.differences.push(...differences)
  report.rows = generations
  report.isGood =
    report.lost.length + report.doubled.length + report.differences.length === 0 &&
    report.finished > 0 &&
    Math.max(...report.readyMs) <= READY_GOAL_MS
  return report
}

/** The answers that were complete before the process ended. */
async function loadUntilKilled(target: Target, life: number, answersBeforeKill: number): Promise<Answered[]> {
  const answered: Answered[] = []
  let isAlive = true
  let asked = 0
  const worker = async (index: number) => {
    while (isAlive) {
      const ask = ASKS[(index + asked) % ASKS.length]
      if (ask === undefined) return
      asked += 1
      const referer = `https://bench.example/${life}/${asked}`
      const id = await answerOf(target, ask, referer)
      if (id !== null) answered.push({ id, referer, ask })
      if (answered.length >= answersBeforeKill && isAlive) {
        isAlive = false
        process.kill(target.pid ?? 0, 'SIGKILL')
      }
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index)))
  await target.stop()
  return answered
}

/** The generation's id, or null where the connection broke before the end. */
async function answerOf(target: Target, ask: Ask, referer: string): Promise<string | null> {
  try {
    const reply = await fetch(`http://127.0.0.1:${target.port}${ask.path}`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${BOOTSTRAP_KEY}`,
        'content-type': 'application/json',
        'http-referer': referer,
      },
      body: ask.body(ask.model),
    })
    const text = await reply.text()
    return ask.faultOf(reply.status, text) === null ? reply.headers.get('x-generation-id') : null
  } catch {
    return null
  }
}

/** As a stopped folder is read: its last writer closed nothing. */
function rowsSince(path: string, firstId: string): Row[] {
  const database = openForReading(path)
  try {
    return database.file
      .query<Row, [string]>(
        `SELECT id, http_referer AS referer, finish_reason AS finish, cost_nano_usd AS cost
         FROM generations WHERE id >= ?`,
      )
      .all(firstId)
  } finally {
    database.close()
  }
}

function missing(rows: readonly Row[], answered: readonly Answered[]): string[] {
  const byId = new Map(rows.map((row) => [row.id, row]))
  return answered.flatMap(({ id, ask }) => {
    const row = byId.get(id)
    if (row === undefined) return [`${id} (${ask.name}) was answered and is not there`]
    if (row.finish === 'error' || row.cost !== ask.costNanoUsd)
      return [`${id} (${ask.name}) was answered and is booked as ${row.finish} at ${row.cost}`]
    return []
  })
}

/** Each request has a referer of its own. */
function doubled(rows: readonly Row[], answered: readonly Answered[]): string[] {
  const seen = new Map<string, number>()
  for (const { referer } of rows) seen.set(referer, (seen.get(referer) ?? 0) + 1)
  const twice = [...seen].filter(([, count]) => count > 1)
  const ids = new Set(answered.map(({ id }) => id))
  return [
    ...twice.map(([referer, count]) => `${referer} is there ${count} times`),
    ...(ids.size === answered.length ? [] : ['two answers had one id']),
  ]
}

/** The same moments each time. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 48_271) % 2_147_483_647
    return state / 2_147_483_647
  }
}

export function killTable(report: KillReport): string[][] {
  const ready = report.readyMs.toSorted((a, b) => a - b)
  const most = ready.at(-1) ?? Number.NaN
  const none = (list: readonly string[]) => [String(list.length), '0', list.length === 0 ? 'yes' : 'NO']
  return [
    [`kill -9, ${report.kills} times`, 'measured', 'wanted', 'reached'],
    ['answers that callers got completely', String(report.finished), '', ''],
    ['of them lost', ...none(report.lost)],
    ['requests booked twice', ...none(report.doubled)],
    ['differences that verify found', ...none(report.differences)],
    ['settled by a later start, as errors', String(report.recovered), '', ''],
    ['ready again, median ms', percentile(ready, 0.5).toFixed(0), '', ''],
    ['ready again, p99 ms', percentile(ready, 0.99).toFixed(0), '', ''],
    ['ready again, most ms', most.toFixed(0), `≤ ${READY_GOAL_MS}`, most <= READY_GOAL_MS ? 'yes' : 'NO'],
    ['generations at the end', String(report.rows), '', ''],
  ]
}
