/** State of the delivery to observability destinations: see tables.ts. */
import { index, integer, json, serial, table, text, timestamp } from './columns.ts'

/** What a replay covers, and how far it has come. */
export interface ReplayRow {
  /** When it was asked for, in milliseconds since 1970; tells replays apart. */
  readonly id: number
  /** Milliseconds since 1970, of the start of generations: from inclusive, to exclusive. */
  readonly from: number
  readonly to: number
  /** The last position that was passed: see `src/delivery/replay.ts`. */
  readonly position: number
  /** Generations of the workspace that were passed, of which the destination's rules may leave out some. */
  readonly passed: number
  readonly state: 'running' | 'done' | 'cancelled'
}

/**
 * How far each destination has come, and totals since it was created. One row a destination; our own telemetry has one too,
 * so there is no foreign key.
 */
export const exportCursors = table('export_cursors', {
  destination_id: text().primaryKey(),
  /** Everything up to this position of the outbox was delivered, set aside or dropped: `seq * 64 + index`. */
  position: integer().notNull(),
  sent: integer().notNull().default(0),
  failed: integer().notNull().default(0),
  /** Generations that were dropped, by reason. */
  dropped: json<Readonly<Record<string, number>>>(),
  last_success_at: timestamp(),
  last_error_at: timestamp(),
  /** A sentence of ours. */
  last_error: text(),
  /** Null: not paused. */
  paused_at: timestamp(),
  replay: json<ReplayRow>(),
})

/** Generations that a destination refused: the last 1,000 of each. */
export const exportFailed = table(
  'export_failed',
  {
    id: serial(),
    destination_id: text().notNull(),
    generation_id: text().notNull(),
    failed_at: timestamp().notNull(),
    /** The HTTP status of the destination; null: it was not asked. */
    status: integer(),
    /** A sentence of ours. */
    message: text().notNull(),
  },
  (t) => [index('export_failed_destination').on(t.destination_id, t.id)],
)
