import { and, eq, sql } from 'drizzle-orm'
import { type Label, USER_LABEL } from '../core/generation.ts'
import type { Database } from '../db/database.ts'
import { usageLabels } from '../db/tables.ts'
import { OTHER } from './labels.ts'
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
  /** The sums of all remembered labels are in the table now. */
  folded(): void
}

/** The most distinct labels per day, of one key and of all keys. */
const MOST_OF_KEY = 10_000
const MOST_OF_DAY = 100_000
const REMEMBERED = 20_000
const DAYS_COUNTED = 3

const ALL = ''
/** Tags beyond the bound of a day, under one name, because names are unbounded too. */
const OTHER_TAG = 'tag:'

/** The bounds of labels. Those without a sum in the table yet are in memory. */
export function prepareBounds(
  database: Database,
  mostOfKey = MOST_OF_KEY,
  mostOfDay = MOST_OF_DAY,
): LabelBounds {
  const hasSum = prepareHasSum(database)
  const counts = prepareDayCounts(database)
  /** Labels of a key that have a sum on their day, and of them those whose sum is not in the table yet. */
  const known = new Set<string>()
  let unfolded: string[] = []
  /** Labels of rows that are not committed yet; true for one without a sum. */
  const fresh = new Map<string, boolean>()

  /** True for a label that has a sum, and for a new one within both bounds. */
  function isWithin(day: number, key: string, label: Label): boolean {
    const place = JSON.stringify([day, key, ...label])
    if (known.has(place) || fresh.has(place)) return true
    if (hasSum(day, key, label)) {
      fresh.set(place, false)
      return true
    }
    if (counts.of(day, key) >= mostOfKey || counts.of(day, ALL) >= mostOfDay) return false
    for (const of of [key, ALL]) counts.add(day, of)
    fresh.set(place, true)
    return true
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
      for (const [place, isNew] of fresh) {
        known.add(place)
        if (isNew) unfolded.push(place)
      }
      fresh.clear()
      counts.keep()
    },
    drop() {
      fresh.clear()
      counts.drop()
    },
    folded() {
      unfolded = []
    },
  }
}

function prepareHasSum({ sync }: Database): (day: number, key: string, label: Label) => boolean {
  const found = sync
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
  return (day, key, [name, value]) => found.get({ day, name, value, key_hash: key }) !== undefined
}

/** How many labels each key has, by day; `ALL` is all of them. Requests of two days settle around midnight. */
function prepareDayCounts({ file }: Database) {
  const counted = file.query<{ key_hash: string; count: number }, [number]>(
    `SELECT key_hash, count(*) AS count
     FROM (SELECT DISTINCT key_hash, name, value FROM usage_labels WHERE day = ?) GROUP BY key_hash`,
  )
  const countsByDay = new Map<number, Map<string, number>>()
  /** By day and key: labels of rows that are not committed yet. */
  const fresh = new Map<string, number>()

  function committedOn(day: number): Map<string, number> {
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

  return {
    of: (day: number, key: string): number =>
      (committedOn(day).get(key) ?? 0) + (fresh.get(`${day}|${key}`) ?? 0),
    add(day: number, key: string) {
      const place = `${day}|${key}`
      fresh.set(place, (fresh.get(place) ?? 0) + 1)
    },
    keep() {
      for (const [place, count] of fresh) {
        const [day, key = ''] = place.split('|')
        const counts = countsByDay.get(Number(day))
        counts?.set(key, (counts.get(key) ?? 0) + count)
      }
      fresh.clear()
    },
    drop: () => fresh.clear(),
  }
}
