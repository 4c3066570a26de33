import { placeholders } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { prunedLabels, usageLabels } from '../db/tables.ts'
import { addTo, NO_SUMS, sumsOf } from './rollups.ts'
import type { Summed } from './summed.ts'
import { windowStart } from './windows.ts'

/** Sums by label and day, in memory until they are written. */
export interface LabelSums {
  /** Adds a row to the sums of its labels. */
  add(row: Summed): void
  /** How many lines `write` adds to. */
  count(): number
  /** Writes inside the caller's transaction. */
  write(): void
}

/** The value of all that is beyond the bounds. No label of a caller is empty. */
export const OTHER = ''
/** How reports name it. */
export const SAID_OTHER = '(other)'

/** False for a file of an older version. */
export const hasLabels = ({ file }: Database): boolean =>
  file.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'usage_labels'").get() !== null

type Line = typeof usageLabels.$inferSelect

/** Prepares the statement once; each fold has sums of its own. */
export const prepareLabels = (database: Database): (() => LabelSums) => prepareSums(database, usageLabels)

/** The same for deleted rows. */
export const preparePrunedLabels = (database: Database): (() => LabelSums) =>
  prepareSums(database, prunedLabels)

function prepareSums(database: Database, labels: typeof usageLabels | typeof prunedLabels): () => LabelSums {
  const query = database.sync
    .insert(labels)
    .values(placeholders(labels))
    .onConflictDoUpdate({
      target: [
        labels.day,
        labels.name,
        labels.value,
        labels.model,
        labels.endpoint_id,
        labels.provider_name,
        labels.key_hash,
        labels.workspace_id,
        labels.user_id,
      ],
      set: sumsOf(labels),
    })
  const hot = prepareHot(database, query)
  return () => sumsByLabel((line) => hot.run(line))
}

function sumsByLabel(write: (line: Line) => void): LabelSums {
  const lines = new Map<string, Line>()
  return {
    add(row) {
      if (row.labels === null) return
      const day = windowStart('daily', row.startedAt)
      for (const [name, value] of row.labels) {
        const parts = {
          day,
          name,
          value,
          model: row.model,
          endpoint_id: row.endpointId,
          provider_name: row.providerName,
          key_hash: row.keyHash,
          workspace_id: row.workspaceId,
          user_id: row.userId,
        }
        const place = JSON.stringify(Object.values(parts))
        let line = lines.get(place)
        if (line === undefined) {
          line = { ...parts, ...NO_SUMS }
          lines.set(place, line)
        }
        addTo(line, row)
      }
    },
    count: () => lines.size,
    write() {
      for (const line of lines.values()) write(line)
    },
  }
}
