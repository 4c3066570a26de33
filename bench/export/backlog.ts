import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { MANAGEMENT_KEY } from '../sluice.ts'
import type { Target } from '../target.ts'

const GENERATIONS_OF_ROW = 64
const ROW_BYTES = 13_000

/**
 * Adds rows to the outbox of a gateway that is stopped: together `bytes`, of generations that the ledger has. Returns how
 * many generations wait then.
 */
export function fillOutbox(folder: string, bytes: number): number {
  const database = new Database(join(folder, 'data', 'sluice.db'), { strict: true })
  const known = database
    .query<{ id: string; workspace: string }, [number]>(
      'SELECT id, workspace_id AS workspace FROM generations ORDER BY id LIMIT ?',
    )
    .all(GENERATIONS_OF_ROW)
  if (known.length < GENERATIONS_OF_ROW) throw new Error('the ledger has too few generations')
  const note = { parameters: {}, host: '127.0.0.1', attempts: [0] }
  const bare = JSON.stringify(known.map((one) => ({ ...one, note })))
  const host = 'h'.repeat(Math.max(9, Math.floor((ROW_BYTES - bare.length) / GENERATIONS_OF_ROW)))
  const generations = JSON.stringify(known.map((one) => ({ ...one, note: { ...note, host } })))
  const workspaces = JSON.stringify({ [String(known[0]?.workspace)]: GENERATIONS_OF_ROW })
  const rows = Math.ceil(bytes / generations.length)
  const insert = database.prepare(
    'INSERT INTO export_outbox (committed_at, entries, generations, workspaces) VALUES (?, ?, ?, ?)',
  )
  database.transaction(() => {
    for (let row = 0; row < rows; row++) insert.run(Date.now(), GENERATIONS_OF_ROW, generations, workspaces)
  })()
  insert.finalize()
  database.run('PRAGMA wal_checkpoint(TRUNCATE)')
  database.close()
  return rows * GENERATIONS_OF_ROW
}

const BUCKET = /^(\w+)_bucket\{le="([^"]+)"\} (\d+)/gm

/** The bucket in which this share of a histogram's values ends, as its upper bound in milliseconds. */
export async function quantileMs(target: Target, metric: string, share: number): Promise<number> {
  const reply = await fetch(`http://127.0.0.1:${target.port}/metrics`, {
    headers: { authorization: `Bearer ${MANAGEMENT_KEY}` },
  })
  const buckets = [...(await reply.text()).matchAll(BUCKET)].filter(([, name]) => name === metric)
  const all = Number(buckets.at(-1)?.[3] ?? 0)
  const [, , bound = 'NaN'] = buckets.find(([, , , count]) => Number(count) >= share * all) ?? []
  return (bound === '+Inf' ? Number.POSITIVE_INFINITY : Number(bound)) * 1_000
}
