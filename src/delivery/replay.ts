import type { Database } from '../db/database.ts'
import type { OutboxEntry } from './outbox-reader.ts'

/** The generations of the ledger that are delivered once more, by the start of their requests. */
export interface Replay {
  readonly id: number
  /** Milliseconds since 1970; exclusive. */
  readonly to: number
  /** Everything up to here was passed. */
  readonly position: number
  /** Generations that were passed before. */
  readonly passed: number
}

/** The most generations of one replay. */
export const MOST_REPLAYED = 1_000_000

const IDS_OF_MILLISECOND = 4096
const ID = /^gen-([0-9a-f]{12})7([0-9a-f]{3})/

/** Just before the first id of a millisecond. Positions of ids are far above those of the outbox. */
export const positionBefore = (ms: number): number => ms * IDS_OF_MILLISECOND - 1

/** The place of a generation among all, by the digits of its id that are in order of time; null: not an id of ours. */
function positionOf(id: string): number | null {
  const [, time, counter] = ID.exec(id) ?? []
  if (time === undefined || counter === undefined) return null
  return Number.parseInt(time, 16) * IDS_OF_MILLISECOND + Number.parseInt(counter, 16)
}

/** Sorts after every id with this position. */
function idAfter(position: number): string {
  const time = Math.floor(position / IDS_OF_MILLISECOND)
  const counter = position % IDS_OF_MILLISECOND
  return `gen-${time.toString(16).padStart(12, '0')}7${counter.toString(16).padStart(3, '0')}g`
}

/**
 * Generations of all workspaces after a position that began before `to`, in order. They have no note: what the ledger's row
 * lacks is not delivered again.
 */
export function readLedger({ file }: Database, after: number, to: number, most: number): OutboxEntry[] {
  return file
    .query<{ id: string; workspace_id: string; created_at: number }, [string, string, number]>(
      'SELECT id, workspace_id, created_at FROM generations WHERE id > ? AND id < ? ORDER BY id LIMIT ?',
    )
    .all(idAfter(after), idAfter(positionBefore(to)), most)
    .flatMap(({ id, workspace_id: workspaceId, created_at: committedAt }) => {
      const position = positionOf(id)
      return position === null ? [] : [{ position, generationId: id, workspaceId, committedAt, note: null }]
    })
}
