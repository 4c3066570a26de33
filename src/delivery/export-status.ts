import { createDistinctNames } from '../metrics/distinct-names.ts'
import type { ExportStatus } from '../metrics/export-status.ts'
import type { Delivery } from './delivery.ts'

/** For /metrics. A name that two workspaces have is shown with the first digits of the id. */
export function exportStatus(delivery: Pick<Delivery, 'books'>, now: number): readonly ExportStatus[] {
  const books = delivery.books()
  const names = createDistinctNames()
  for (const { destination } of books) names.add('', destination.name, destination.id)
  return books.map(({ destination: { id, name, type }, row, waiting }) => ({
    destination: names.nameOf('', name, id),
    type,
    sent: row.sent,
    failed: row.failed,
    dropped: row.dropped ?? {},
    lagSeconds: lagSeconds(waiting.oldestAt, now),
    queuedBytes: waiting.bytes,
  }))
}

/** For how long the oldest generation has waited. */
export const lagSeconds = (oldestAt: number | null, now: number): number =>
  oldestAt === null ? 0 : Math.max(0, Math.round(now - oldestAt) / 1000)
