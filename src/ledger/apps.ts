import { and, eq, lt, sql } from 'drizzle-orm'
import type { Database } from '../db/database.ts'
import { apps } from '../db/tables.ts'
import { windowStart } from './windows.ts'

/** The ids of applications, for the rows of one transaction. */
export interface AppIds {
  /**
   * Null for a caller without identifying headers. Writes inside the caller's transaction. `at`: milliseconds since
   * 1970.
   */
  idOf(origin: string, title: string, at: number): number | null
  /** Caches the written ids after the commit. */
  keep(): void
}

interface App {
  readonly id: number
  readonly usedDay: number
}

/** The most cached applications. Callers can invent names, so the least recently used ones are evicted. */
const MOST_APPS = 10_000
const ROOM_SHARE = 1 / 10

/** The integer ids of applications, assigned at their first request and never reused. */
export function prepareApps(database: Database, most = MOST_APPS): { begin(): AppIds } {
  const table = prepareTable(database)
  const known = new Map<string, App>()
  let count: number | null = null

  return {
    begin() {
      const fresh = new Map<string, App>()
      let counted = count
      let hasEvicted = false

      function makeRoom(): void {
        counted ??= table.count()
        if (counted < most) return
        // Some may have been pruned since.
        counted = table.count()
        if (counted < most) return
        const gone = Math.ceil(most * ROOM_SHARE)
        table.evict(gone)
        counted -= gone
        hasEvicted = true
        fresh.clear()
      }

      function find(name: string, origin: string, title: string): App | undefined {
        return fresh.get(name) ?? (hasEvicted ? undefined : known.get(name)) ?? table.find(origin, title)
      }

      return {
        idOf(origin, title, at) {
          if (origin === '' && title === '') return null
          // An origin contains no line break.
          const name = `${origin}\n${title}`
          const day = windowStart('daily', at)
          const app = find(name, origin, title)
          if (app !== undefined && app.usedDay >= day) {
            if (known.get(name) !== app) fresh.set(name, app)
            return app.id
          }
          // An application that was pruned since is inserted again.
          if (app !== undefined && table.use(app.id, day)) {
            fresh.set(name, { id: app.id, usedDay: day })
            return app.id
          }
          makeRoom()
          const id = table.insert(origin, title, at, day)
          counted = (counted ?? 0) + 1
          fresh.set(name, { id, usedDay: day })
          return id
        },
        keep() {
          if (hasEvicted || known.size + fresh.size > most) known.clear()
          for (const [name, app] of fresh) known.set(name, app)
          count = counted
        },
      }
    },
  }
}

/** The prepared statements. */
function prepareTable({ sync, file }: Database) {
  const find = sync
    .select({ id: apps.id, usedDay: apps.used_day })
    .from(apps)
    .where(and(eq(apps.origin, sql.placeholder('origin')), eq(apps.title, sql.placeholder('title'))))
    .prepare()
  const insert = sync
    .insert(apps)
    .values({
      origin: sql.placeholder('origin'),
      title: sql.placeholder('title'),
      created_at: sql.placeholder('created_at'),
      used_day: sql.placeholder('used_day'),
    })
    .returning({ id: apps.id })
    .prepare()
  const use = file.query<unknown, [number, number]>(
    'UPDATE apps SET used_day = max(used_day, ?) WHERE id = ?',
  )
  const total = file.query<{ count: number }, []>('SELECT count(*) AS count FROM apps')
  const evict = file.query<unknown, [number]>(
    'DELETE FROM apps WHERE id IN (SELECT id FROM apps ORDER BY used_day, id LIMIT ?)',
  )
  return {
    find: (origin: string, title: string): App | undefined => find.get({ origin, title }),
    insert: (origin: string, title: string, at: number, day: number): number =>
      insert.get({ origin, title, created_at: new Date(at), used_day: day }).id,
    /** False if the row is gone. */
    use: (id: number, day: number): boolean => use.run(day, id).changes > 0,
    count: (): number => total.get()?.count ?? 0,
    /** Deletes the least recently used ones. */
    evict: (most: number) => evict.run(most),
  }
}

/** Deletes the applications that called last before `before`, in milliseconds since 1970. They are few. */
export function pruneApps({ sync }: Database, before: number): void {
  sync
    .delete(apps)
    .where(lt(apps.used_day, windowStart('daily', before)))
    .run()
}
