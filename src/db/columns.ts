/** The one place that knows which SQL dialect is in use. Tables are declared once, against this kit. */
import {
  getTableColumns,
  type HasDefault,
  type NotNull,
  type Placeholder,
  type SQL,
  sql,
  type Table,
} from 'drizzle-orm'
import * as pg from 'drizzle-orm/pg-core'
import * as sqlite from 'drizzle-orm/sqlite-core'

type SqlDialect = 'sqlite' | 'postgres'

// drizzle-kit loads the tables by itself, so only the environment can name the dialect: drizzle.postgres.config.ts
// and drizzle.bodies.postgres.config.ts set this variable. The server always runs on SQLite.
const chosen: SqlDialect = process.env['SLUICE_MIGRATIONS_DIALECT'] === 'postgres' ? 'postgres' : 'sqlite'

// Both dialects have the same row types, so the SQLite types are used for both.
const choose = <S>(forSqlite: S, forPostgres: unknown): S =>
  chosen === 'postgres' ? (forPostgres as S) : forSqlite

export const table = choose(sqlite.sqliteTable, pg.pgTable)
export const text = choose(
  () => sqlite.text(),
  () => pg.text(),
)
/** One of a closed list of words; the type lists them, the database stores plain text. */
export const word = <W extends string>() => text().$type<W>()
/** An integer below 2^53. */
export const integer = choose(
  () => sqlite.integer(),
  () => pg.bigint({ mode: 'number' }),
)
/** Money: an integer of nano-dollars (1e-9 USD). The column's name ends in `_nano_usd`. */
export const nanoUsd = () => integer()
export const real = choose(
  () => sqlite.real(),
  () => pg.doublePrecision(),
)
export const boolean = choose(
  () => sqlite.integer({ mode: 'boolean' }),
  () => pg.boolean(),
)
/** An instant with milliseconds, read and written as a `Date`. */
export const timestamp = choose(
  () => sqlite.integer({ mode: 'timestamp_ms' }),
  () => pg.timestamp({ withTimezone: true, mode: 'date', precision: 3 }),
)
/** A number that the database assigns: ascending and never reused. */
export const serial = choose(
  () => sqlite.integer().primaryKey({ autoIncrement: true }),
  () => pg.bigserial({ mode: 'number' }).primaryKey(),
)
// Drizzle's own JSON column writes the text 'null' for a null that comes through a placeholder.
const sqliteJson = <T>() =>
  sqlite.customType<{ data: T; driverData: string | null }>({
    dataType: () => 'text',
    toDriver: (value) => (value === null ? null : JSON.stringify(value)),
    fromDriver: (stored) => JSON.parse(stored ?? 'null'),
  })()
export const json = <T>() => choose(sqliteJson<T>, () => pg.jsonb().$type<T>())()
export const bytes = choose(
  () => sqlite.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'blob' })(),
  () => pg.customType<{ data: Uint8Array; driverData: Uint8Array }>({ dataType: () => 'bytea' })(),
)
export type ColumnBuilder = sqlite.SQLiteColumnBuilderBase
export type AnyTable = sqlite.SQLiteTable
export type AnyColumn = sqlite.SQLiteColumn

// Drizzle types these methods by the class of the builder, which a generic parameter hides.
export const notNull = <Column extends ColumnBuilder>(column: Column) =>
  (column as unknown as sqlite.SQLiteColumnBuilder).notNull() as unknown as NotNull<Column>
export const notNullDefault = <Column extends ColumnBuilder>(column: Column, value: unknown) =>
  (column as unknown as sqlite.SQLiteColumnBuilder).notNull().default(value) as unknown as HasDefault<
    NotNull<Column>
  >

/** A query for complete rows of `from`, to which `orderBy`, `limit` and `offset` can be added. */
export interface RowQuery<Row> extends PromiseLike<Row[]> {
  orderBy(...order: SQL[]): RowQuery<Row>
  limit(rows: number): RowQuery<Row>
  offset(rows: number): RowQuery<Row>
  getSQL(): SQL
}
export const selectRows = <T extends AnyTable>(
  db: sqlite.BaseSQLiteDatabase<'async', unknown>,
  from: T,
  where: SQL | undefined,
) => db.select().from(from).where(where).$dynamic() as unknown as RowQuery<T['$inferSelect']>

export const index = choose(sqlite.index, pg.index)
export const uniqueIndex = choose(sqlite.uniqueIndex, pg.uniqueIndex)
export const alias = choose(sqlite.alias, pg.alias)
export const primaryKey = choose(sqlite.primaryKey, pg.primaryKey)

/** Types a database as one whose queries are awaited: SQLite's driver answers at once, and `await` takes that too. */
export const awaitable = <Schema extends Record<string, unknown>>(
  db: sqlite.BaseSQLiteDatabase<'sync', void, Schema>,
) => db as unknown as sqlite.BaseSQLiteDatabase<'async', unknown, Schema>

/** A placeholder for every column, named as the column: for prepared inserts of complete rows. */
export const placeholders = <T extends Table>(of: T) =>
  Object.fromEntries(Object.keys(getTableColumns(of)).map((name) => [name, sql.placeholder(name)])) as {
    [Name in keyof T['$inferSelect']]: Placeholder
  }
