import { and, eq, sql } from 'drizzle-orm'
import { type Label, USER_LABEL } from '../core/generation.ts'
import { placeholders } from '../db/columns.ts'
import type { Database } from '../db/database.ts'
import { prepareHot } from '../db/hot-statement.ts'
import { prunedLabels, usageLabels } from '../db/tables.ts'
import { addTo, HOURLY_SUMS } from './rollups.ts'
import type { Summed } from './summed.ts'
import { windowStart } from './windows.ts'

/** Keeps the labels of rows within the bounds. */
export interface LabelBounds {
  /** The labels that a row is booked to: those within the bounds, and `OTHER` for the rest. To be stored in the row. */
  bounded(row: Pick<Summed, 'labels' | 'keyHash' | 'startedAt'>): readonly Label[] | null
  /** Remembers the labels of the rows since the last call, once they are committed. */
  keep(): void
  /** Forgets those of a transaction that was rolled back. */
  drop(): void
  /** What was kept has its sums in the table now. */
  folded(): void
}

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
/** The most distinct labels per day, of one key and of all keys. */
const MOST_OF_KEY = 10_000
const MOST_OF_DAY = 100_000
const REMEMBERED = 20_000
const DAYS_COUNTED = 3

/** False for a file of an older version. */
export const hasLabels = ({ file }: Database): boolean =>
  file.query("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'usage_labels'").get() !== null

type Line = typeof usageLabels.$inferSelect

/** Prepares the statement once; each fold has sums of its own. */
export const prepareLabels = (database: Database): (() => LabelSums) => prepareSums(database, usageLabels)

/** The same for deleted rows. */
export const preparePrunedLabels = (database: Database): (() => LabelSums) =>
  prepareSums(database, prunedLabels)

/** The bounds of labels. What has no sum in the table yet is known here. */
export function prepareBounds(
  database: Database,
  mostOfKey = MOST_OF_KEY,
  mostOfDay = MOST_OF_DAY,
): LabelBounds {
  const found = database.sync
    .select({ day: usageLabels.day })
    .from(usageLabels)
    .where(
      and(
        eq(usageLabels.day, sql.placeholder('day')),
        eq(usageLabels.name, sql.placeholder('name')),
        eq(usageLabels.value, sql.placeholder('value')),
        eq(usageLabels.key_hash, sql.placeholder('key_hash')),
      ),
    )
    .limit(1)
    .prepare()
  const counted = database.file.query<{ key_hash: string; count: number }, [number]>(
    `SELECT key_hash, count(*) AS count
     FROM (SELECT DISTINCT key_hash, name, value FROM usage_labels WHERE day = ?) GROUP BY key_hash`,
  )
  /** Labels of a key that have a sum on their day, and of them those whose sum is not in the table yet. */
  const known = new Set<string>()
  let unfolded: string[] = []
  /** Labels of rows that are not committed yet: '' for one that has a sum, else the key that it is new to. */
  const fresh = new Map<string, string>()
  const freshOf = new Map<string, number>()
  /** How many labels each key has, by day; `ALL` is all of them. Requests of two days settle around midnight. */
  const countsByDay = new Map<number, Map<string, number>>()

  function countsOf(day: number): Map<string, number> {
    let counts = countsByDay.get(day)
    if (counts === undefined) {
      counts = new Map(counted.all(day).map(({ key_hash: key, count }) => [key, count]))
      counts.set(
        ALL,
        [...counts.values()].reduce((sum, count) => sum + count, 0),
      )
      const [oldest] = countsByDay.keys()
      if (countsByDay.size >= DAYS_COUNTED && oldest !== undefined) countsByDay.delete(oldest)
      countsByDay.set(day, counts)
    }
    return counts
  }

  /** True for a label that has a sum, and for a new one that there is room for. */
  function isWithin(day: number, key: string, [name, value]: Label): boolean {
    const place = JSON.stringify([day, key, name, value])
    if (known.has(place) || fresh.has(place)) return true
    if (found.get({ day, name, value, key_hash: key }) !== undefined) {
      fresh.set(place, '')
      return true
    }
    const count = (of: string): number => (countsOf(day).get(of) ?? 0) + (freshOf.get(`${day}|${of}`) ?? 0)
    if (count(key) >= mostOfKey || count(ALL) >= mostOfDay) return false
    for (const of of [key, ALL]) freshOf.set(`${day}|${of}`, (freshOf.get(`${day}|${of}`) ?? 0) + 1)
    fresh.set(place, key)
    return true
  }

  function drop(): void {
    fresh.clear()
    freshOf.clear()
  }

  return {
    bounded({ labels, keyHash, startedAt }) {
      if (labels === null) return null
      const day = windowStart('daily', startedAt)
      const bounded: Label[] = []
      for (const label of labels) {
        const [name] = label
        const booked: Label = isWithin(day, keyHash, label)
          ? label
          : [name === USER_LABEL ? name : OTHER_TAG, OTHER]
        if (!bounded.some((one) => one[0] === booked[0] && one[1] === booked[1])) bounded.push(booked)
      }
      return bounded
    },
    keep() {
      if (fresh.size === 0) return
      if (known.size + fresh.size > REMEMBERED) {
        known.clear()
        for (const place of unfolded) known.add(place)
      }
      for (const [place, key] of fresh) {
        known.add(place)
        if (key !== '') unfolded.push(place)
      }
      for (const [of, count] of freshOf) {
        const [day, key = ''] = of.split('|')
        const counts = countsByDay.get(Number(day))
        counts?.set(key, (counts.get(key) ?? 0) + count)
      }
      drop()
    },
    drop,
    folded() {
      unfolded = []
    },
  }
}

const ALL = ''
/** Tags beyond the bound of a day, under one name, because names are unbounded too. */
const OTHER_TAG = 'tag:'

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
      set: Object.fromEntries(
        HOURLY_SUMS.map((name) => [name, sql`${labels[name]} + excluded.${sql.identifier(name)}`]),
      ),
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
          line = { ...parts, ...NOTHING }
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

const NOTHING = {
  requests: 0,
  failed_requests: 0,
  prompt_tokens: 0,
  completion_tokens: 0,
  reasoning_tokens: 0,
  cached_tokens: 0,
  usage_nano_usd: 0,
  byok_usage_nano_usd: 0,
}
