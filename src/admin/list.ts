import type { TProperties } from '@sinclair/typebox'
import { and, asc, type Column, desc, eq, gt, lt, or, type SQL, sql } from 'drizzle-orm'
import { badRequest } from '../core/errors.ts'
import type { RowQuery } from '../db/columns.ts'
import type { Database, Db } from '../db/database.ts'
import { type ListQuery, listQuery } from '../http/schemas.ts'

/** A list of the API: where its rows come from and how they can be ordered and searched. */
interface Listing<Row> {
  rows(db: Db, where: SQL | undefined): RowQuery<Row>
  /** Columns by which it can be sorted. They are never null, and rows have them under their own names. */
  sorts: readonly Column[]
  /** The default: one of `sorts`, with `-` before it if it descends. */
  order: string
  /** Unique; orders rows that are otherwise equal. */
  key: Column
  /** Columns that `q` searches. */
  searched: readonly Column[]
}

export const listing = <Row extends object, Filters extends TProperties>(
  list: Listing<Row> & { filters: Filters },
) => ({
  ...list,
  query: listQuery(
    list.sorts.map(({ name }) => name),
    list.order,
    list.filters,
  ),
})

export interface Page<View> {
  data: View[]
  total_count: number
  next_cursor: string | null
}

const DEFAULT_PAGE = 50

/** The page of a list that `query` asks for, of the rows that `where` keeps. Throws a 400 for an unknown cursor. */
export async function listPage<Row extends object, View>(
  { db }: Pick<Database, 'db'>,
  list: Listing<Row>,
  query: ListQuery,
  where: SQL | undefined,
  view: (row: Row) => View | Promise<View>,
): Promise<Page<View>> {
  const { key } = list
  const sort = query.sort ?? list.order
  const isDescending = sort.startsWith('-')
  const field = isDescending ? sort.slice(1) : sort
  const by = list.sorts.find(({ name }) => name === field) ?? key
  const beyond = isDescending ? lt : gt
  const direction = isDescending ? desc : asc
  const limit = Number(query.limit ?? DEFAULT_PAGE)
  const matching = and(where, query.q === undefined ? undefined : contains(list.searched, query.q))
  let after: SQL | undefined
  if (query.cursor !== undefined) {
    if (query.offset !== undefined) throw badRequest('cannot be combined with offset', CURSOR)
    const [value, id] = placeOf(query.cursor, sort)
    const stored = by.dataType === 'date' ? new Date(value) : value
    after = or(beyond(by, stored), and(eq(by, stored), beyond(key, id)))
  }
  const rows = await list
    .rows(db, and(matching, after))
    .orderBy(direction(by), direction(key))
    .limit(limit + 1)
    .offset(Number(query.offset ?? 0))
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  return {
    data: await Promise.all(page.map(view)),
    total_count: await db.$count(sql`(${list.rows(db, matching).getSQL()}) as listed`),
    next_cursor:
      rows.length > limit && last !== undefined
        ? cursorAt(sort, Reflect.get(last, by.name), Reflect.get(last, key.name))
        : null,
  }
}

const contains = (columns: readonly Column[], text: string): SQL | undefined => {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`
  return or(...columns.map((column) => sql`lower(${column}) like lower(${pattern}) escape '\\'`))
}

const CURSOR = 'query parameter cursor'

/** Where a page ended: the value of the sorted column and the key of its last row. */
const cursorAt = (sort: string, value: unknown, key: unknown): string =>
  Buffer.from(JSON.stringify([sort, value instanceof Date ? value.getTime() : value, key])).toString(
    'base64url',
  )

function placeOf(cursor: string, sort: string): [value: string | number, key: string | number] {
  const [ofSort, value, key] = readCursor(cursor)
  if (!isPlace(value) || !isPlace(key)) throw badRequest('must be the next_cursor of a page', CURSOR)
  if (ofSort !== sort) throw badRequest('belongs to a list with another sort', CURSOR)
  return [value, key]
}

const isPlace = (value: unknown): value is string | number =>
  typeof value === 'string' || (typeof value === 'number' && Number.isSafeInteger(value))

function readCursor(cursor: string): readonly unknown[] {
  try {
    const read: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString())
    return Array.isArray(read) ? read : []
  } catch {
    return []
  }
}
