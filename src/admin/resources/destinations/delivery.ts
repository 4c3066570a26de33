import { type Static, Type } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import { conflict } from '../../../core/errors.ts'
import { selectRows } from '../../../db/columns.ts'
import { type DestinationRow, exportFailed } from '../../../db/tables.ts'
import type { Book } from '../../../delivery/book.ts'
import { lagSeconds } from '../../../delivery/export-status.ts'
import { instant, nullable } from '../../../http/schemas.ts'
import { change } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { checkReplay, type ReplayRange } from './replay-range.ts'
import { type DestinationDeps, findDestination } from './service.ts'

const count = (description: string) => Type.Number({ documented: { type: 'integer' }, description })
const replayView = Type.Object({
  from: instant('Generations whose requests began then or later.'),
  to: instant('And before this time.'),
  state: Type.String({ documented: { type: 'string', enum: ['running', 'done', 'cancelled'] } }),
  generations: count('Generations that were read so far; the rules of the destination may leave out some.'),
})

export const statusReply = Type.Object({
  state: Type.String({
    documented: { type: 'string', enum: ['delivering', 'retrying', 'paused', 'disabled'] },
    description:
      'paused: it refused the credential or address; it goes on after a change or a successful test.',
  }),
  paused_since: nullable(instant('Null: not paused.')),
  lag: Type.Object({
    generations: count('Generations that wait, of all workspaces.'),
    seconds: Type.Number({ description: 'For how long the oldest of them has waited.' }),
  }),
  queued_bytes: count('Size of what waits, without contents.'),
  sent: count('Accepted by the destination since it was created.'),
  failed: count('Refused by the destination.'),
  dropped: Type.Record(Type.String(), Type.Number(), {
    description: 'By reason: age, bytes, too_old, too_large, pruned, discarded.',
  }),
  last_success_at: nullable(instant('Null: never.')),
  last_error_at: nullable(instant('Null: never.')),
  last_error: nullable(Type.String({ description: 'The last failure, as a sentence.' })),
  replay: nullable(replayView),
})
type Status = Static<typeof statusReply>

export async function getStatus(deps: DestinationDeps, id: string): Promise<Status> {
  const row = await findDestination(deps, id)
  return statusOf(bookOf(deps, row), deps.now())
}

/** A destination without a book cannot be opened. */
function bookOf({ delivery }: DestinationDeps, { id }: DestinationRow): Book {
  const book = delivery.bookOf(id)
  if (book === undefined)
    throw conflict('The config of this destination cannot be opened, so nothing is delivered: send it again')
  return book
}

const statusOf = ({ row, standing, waiting }: Book, now: number): Status => ({
  state: standing,
  paused_since: isoOf(row.paused_at),
  lag: { generations: waiting.generations, seconds: lagSeconds(waiting.oldestAt, now) },
  queued_bytes: waiting.bytes,
  sent: row.sent,
  failed: row.failed,
  dropped: { ...row.dropped },
  last_success_at: isoOf(row.last_success_at),
  last_error_at: isoOf(row.last_error_at),
  last_error: row.last_error,
  replay:
    row.replay === null
      ? null
      : {
          from: new Date(row.replay.from).toISOString(),
          to: new Date(row.replay.to).toISOString(),
          state: row.replay.state,
          generations: row.replay.passed,
        },
})

const isoOf = (at: Date | null): string | null => at?.toISOString() ?? null

export const failedReply = Type.Object({
  generation_id: Type.String(),
  failed_at: instant('When it was set aside.'),
  status: nullable(count("The status of the destination's reply; null: it was not sent.")),
  message: Type.String({ description: 'Why, as a sentence.' }),
})

/** The newest first. */
export const failedList = listing({
  rows: (db, where) => selectRows(db, exportFailed, where),
  sorts: [exportFailed.id],
  order: '-id',
  key: exportFailed.id,
  searched: [exportFailed.generation_id],
  filters: {},
})

export async function listFailed(deps: DestinationDeps, id: string, query: Static<typeof failedList.query>) {
  const row = await findDestination(deps, id)
  deps.delivery.flush()
  const where = eq(exportFailed.destination_id, row.id)
  return listPage(deps.database, failedList, query, where, (failed) => ({
    generation_id: failed.generation_id,
    failed_at: failed.failed_at.toISOString(),
    status: failed.status,
    message: failed.message,
  }))
}

/** Drops all that waits for the destination. */
export async function discardWaiting(deps: DestinationDeps, actor: Actor, id: string): Promise<Status> {
  const row = await findDestination(deps, id)
  const book = bookOf(deps, row)
  await record(deps, actor, row, 'discard', { generations: book.waiting.generations })
  deps.delivery.discard(row.id)
  return statusOf(book, deps.now())
}

/** Delivers generations of the ledger once more. Throws a `GatewayError`: 400 and 409 as `checkReplay`. */
export async function beginReplay(
  deps: DestinationDeps,
  actor: Actor,
  id: string,
  body: ReplayRange,
): Promise<Status> {
  const row = await findDestination(deps, id)
  const book = bookOf(deps, row)
  const range = await checkReplay(deps, book, body)
  await record(deps, actor, row, 'replay', { from: body.from, to: body.to })
  deps.delivery.replay(row.id, range)
  return statusOf(book, deps.now())
}

export async function cancelReplay(deps: DestinationDeps, actor: Actor, id: string): Promise<Status> {
  const row = await findDestination(deps, id)
  const book = bookOf(deps, row)
  if (book.row.replay?.state !== 'running') throw conflict('No replay of this destination is running')
  await record(deps, actor, row, 'cancel_replay', { generations: book.row.replay.passed })
  deps.delivery.replay(row.id, null)
  return statusOf(book, deps.now())
}

const record = (
  deps: DestinationDeps,
  actor: Actor,
  { id, workspace_id: workspaceId }: DestinationRow,
  verb: string,
  after: Readonly<Record<string, string | number>>,
): Promise<void> =>
  change(
    deps,
    actor,
    { action: `destination.${verb}`, resourceId: id, workspaceId, after: { ...after } },
    () => [],
  )
