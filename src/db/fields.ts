/**
 * The fields of a resource, each declared once: its column, what requests may set, what replies show and what the audit
 * log records. `columnsOf` makes the columns of the table; `resourceOf` makes what administration needs.
 */
import { type Static, type TObject, type TOptional, type TSchema, Type } from '@sinclair/typebox'
import type { Column } from 'drizzle-orm'
import type { JsonObject } from '../core/events.ts'
import { instant, nullable } from '../http/schemas.ts'
import { type AnyTable, type ColumnBuilder, notNull, notNullDefault, timestamp } from './columns.ts'

/** How one kind of value is stored, received and shown. `store` and `show` never see null. */
export interface Kind {
  column: ColumnBuilder
  /** What a request may set. Its rules are checked and documented. */
  body: TSchema
  /** What replies contain. Without rules: a value stored under older rules is still shown. */
  view: TSchema
  /** From the body to the column; default: unchanged. */
  store?: (value: never) => unknown
  /** From the column to the view; default: unchanged. */
  show?: (stored: never) => unknown
}

export interface Field {
  column: ColumnBuilder
  /** Its name in the API, if it differs from the column's. */
  name?: string
  /** Absent: a request that creates the resource cannot set it. */
  create?: TSchema
  /** Absent: it cannot be changed. */
  update?: TSchema
  /** Absent: it is never shown. */
  view?: TSchema
  /** Its API value if the creating request leaves it out; undefined: the service supplies the column's value. */
  initial: unknown
  /** Whether the audit log records it. */
  audited: boolean
  store?: (value: never) => unknown
  show?: (stored: never) => unknown
}
export type Fields = Readonly<Record<string, Field>>

/** A setting that is null until a request sets it. */
export const optional = <K extends Kind>({ body, view, ...kind }: K) => {
  const settable = Type.Optional(nullable<K['body']>(body))
  return {
    ...kind,
    create: settable,
    update: settable,
    view: nullable<K['view']>(view),
    initial: null,
    audited: true,
  }
}

/** A setting that the creating request must contain. */
export const required = <K extends Kind>({ column, body, view, ...kind }: K) => {
  const create: K['body'] = body
  const shown: K['view'] = view
  return {
    ...kind,
    column: notNull<K['column']>(column),
    create,
    update: Type.Optional(create),
    view: shown,
    initial: undefined,
    audited: true,
  }
}

/** A setting that has this value until a request sets another. */
export const withDefault = <K extends Kind>(
  { column, body, view, ...kind }: K,
  initial: Static<K['body']>,
) => {
  const settable = Type.Optional<K['body']>(body)
  const shown: K['view'] = view
  return {
    ...kind,
    column: notNullDefault<K['column']>(column, initial),
    create: settable,
    update: settable,
    view: shown,
    initial,
    audited: true,
  }
}

/** The same field, set by the creating request and never changed. */
export const fixed = <F extends Field>({ update: _, ...field }: F) => field

/** The same field, at its default when created and changed later. */
export const changeable = <F extends Field>({ create: _, ...field }: F) => field

/** The same field or kind under another name in the API. */
export const named = <Name extends string, F extends Kind | Field>(name: Name, field: F) => ({
  ...field,
  name,
})

/** A column that services write and replies show. */
export const given = <C extends ColumnBuilder, V extends TSchema>(column: C, view: V) => ({
  column,
  view,
  initial: undefined,
  audited: false,
})

/** A column that no reply contains. */
export const hidden = <C extends ColumnBuilder>(column: C) => ({ column, initial: undefined, audited: false })

export const createdAt = () =>
  timestamp()
    .notNull()
    .$defaultFn(() => new Date())

const show = (stored: Date): string => stored.toISOString()
/** When the row was made. */
export const createdInstant = (description = 'When it was made.') => ({
  ...given(createdAt(), instant(description)),
  show,
})
/** An instant that a service sets with the row. */
export const givenInstant = (description: string) => ({
  ...given(timestamp().notNull(), instant(description)),
  show,
})
/** When the row was last changed; at first when it was made. */
export const changedInstant = (description = 'When it was last changed.') => createdInstant(description)
/** An instant that is null until a service sets it. */
export const shownInstant = (description: string) => ({
  ...given(timestamp(), nullable(instant(description))),
  show,
  initial: null,
})
/** When the row was last changed; null until then. */
export const updatedInstant = () => shownInstant('When it was last changed; null: never.')

type ApiName<F, K extends keyof F> = F[K] extends { name: infer Name extends string } ? Name : K
type SchemaOf<F, Use extends 'create' | 'update' | 'view'> =
  F extends Record<Use, infer S extends TSchema> ? S : never
type Properties<F, Use extends 'create' | 'update' | 'view'> = {
  [K in keyof F as F[K] extends Record<Use, TSchema> ? ApiName<F, K> : never]: SchemaOf<F[K], Use>
}
type ColumnsOf<F extends Fields> = { [K in keyof F]: F[K]['column'] }
/** Columns whose values come from neither the body nor a default. */
type GivenName<F> = {
  [K in keyof F]: F[K] extends { initial: undefined }
    ? F[K] extends { create: infer S }
      ? S extends TOptional<TSchema>
        ? K
        : never
      : K
    : never
}[keyof F]

/** An object of the declared type from its members: the only place where the kit trusts its types. */
const collect = (members: readonly (readonly unknown[])[]) => Object.fromEntries(members)

export const columnsOf = <F extends Fields>(fields: F): ColumnsOf<F> =>
  collect(Object.entries(fields).map(([column, field]) => [column, field.column]))

const propertiesOf = <F extends Fields, Use extends 'create' | 'update' | 'view'>(
  fields: F,
  use: Use,
): Properties<F, Use> =>
  collect(
    Object.entries(fields).flatMap(([column, field]) =>
      field[use] === undefined ? [] : [[field.name ?? column, field[use]]],
    ),
  )

export interface Resource<T extends AnyTable, F extends Fields> {
  /** The first part of its audit actions: `guardrail`. */
  readonly name: string
  /** What messages call it if not by its name: `API key`. */
  readonly noun: string
  /** The column by which requests and the audit log name one. */
  readonly key: Column
  readonly table: T
  readonly fields: F
  readonly create: TObject<Properties<F, 'create'>>
  readonly update: TObject<Properties<F, 'update'>>
  readonly view: TObject<Properties<F, 'view'>>
}

export const resourceOf = <T extends AnyTable, F extends Fields>(
  name: string,
  key: Column,
  table: T,
  fields: F,
  noun = name,
): Resource<T, F> => ({
  name,
  noun,
  key,
  table,
  fields,
  create: Type.Object(propertiesOf(fields, 'create'), { additionalProperties: false }),
  update: Type.Object(propertiesOf(fields, 'update'), { additionalProperties: false }),
  view: Type.Object(propertiesOf(fields, 'view')),
})

const converted = (convert: ((value: never) => unknown) | undefined, value: unknown): unknown =>
  convert === undefined || value === null ? value : Reflect.apply(convert, undefined, [value])

/** The columns that a body sets. */
export const storedOf = <T extends AnyTable, F extends Fields>(
  { fields }: Resource<T, F>,
  body: object,
): Partial<T['$inferSelect']> =>
  collect(
    Object.entries(fields).flatMap(([column, { name = column, create, update, store }]) => {
      const value: unknown = Reflect.get(body, name)
      return value === undefined || (create ?? update) === undefined
        ? []
        : [[column, converted(store, value)]]
    }),
  )

/** The complete row of a new resource: values of `given`, else of the body, else the defaults. */
export const newRow = <T extends AnyTable, F extends Fields>(
  resource: Resource<T, F>,
  body: object,
  given: Pick<T['$inferSelect'], GivenName<F> & keyof T['$inferSelect']> & Partial<T['$inferSelect']>,
): T['$inferSelect'] =>
  collect([
    ...Object.entries(resource.fields).map(([column, { initial, store }]) => [
      column,
      converted(store, initial ?? null),
    ]),
    ...Object.entries(storedOf(resource, body)),
    ...Object.entries(given),
  ])

/** What replies contain of a row: the fields that declare a view, and nothing else. */
export const viewOf = <T extends AnyTable, F extends Fields>(
  { fields }: Resource<T, F>,
  row: T['$inferSelect'],
): Static<TObject<Properties<F, 'view'>>> =>
  collect(
    Object.entries(fields).flatMap(([column, { name = column, view, show }]) =>
      view === undefined ? [] : [[name, converted(show, Reflect.get(row, column))]],
    ),
  )

/** The fields of a row that the audit log records. */
export const auditOf = <T extends AnyTable, F extends Fields>(
  { fields }: Resource<T, F>,
  row: T['$inferSelect'],
): JsonObject =>
  collect(
    Object.entries(fields).flatMap(([column, { name = column, audited, show }]) =>
      audited ? [[name, converted(show, Reflect.get(row, column))]] : [],
    ),
  )
