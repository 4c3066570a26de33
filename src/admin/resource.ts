import { and, type Column, eq, type SQL } from 'drizzle-orm'
import type { Actor } from '../core/actor.ts'
import { conflict, notFound } from '../core/errors.ts'
import type { JsonObject } from '../core/events.ts'
import { type AnyTable, selectRows } from '../db/columns.ts'
import { type Db, mustChange, type Write } from '../db/database.ts'
import { auditOf, type Fields, type Resource } from '../db/fields.ts'
import { type ChangeDeps, change, difference } from './change.ts'

/** The row with this key, or with this value in another unique column, if `condition` holds for it. Throws 404. */
export async function findRow<T extends AnyTable, F extends Fields>(
  { database }: Pick<ChangeDeps, 'database'>,
  resource: Resource<T, F>,
  value: string,
  condition?: SQL,
  column: Column = resource.key,
): Promise<T['$inferSelect']> {
  const [row] = await selectRows(database.db, resource.table, and(eq(column, value), condition))
  if (row === undefined) throw notFound(`There is no ${resource.noun} with this ${column.name}`)
  return row
}

/** A workspace belongs to itself; a resource without a workspace belongs to the organisation. */
function placeOf<T extends AnyTable, F extends Fields>(
  { key, name }: Resource<T, F>,
  row: T['$inferSelect'],
) {
  const resourceId = String(Reflect.get(row, key.name))
  const workspaceId: unknown = name === 'workspace' ? resourceId : Reflect.get(row, 'workspace_id')
  return { resourceId, workspaceId: workspaceId === undefined ? null : String(workspaceId) }
}

/**
 * Inserts a row and its audit entry, with what `further` writes in the same transaction. `computed` are columns whose
 * values the database computes from other rows.
 */
export const createRow = <T extends AnyTable, F extends Fields>(
  deps: ChangeDeps,
  actor: Actor,
  resource: Resource<T, F>,
  row: T['$inferSelect'],
  {
    computed = {},
    checks = () => [],
    further = () => [],
  }: {
    computed?: Readonly<Record<string, SQL>>
    checks?: (tx: Db) => readonly Write[]
    further?: (tx: Db) => readonly Write[]
  } = {},
): Promise<void> =>
  change(
    deps,
    actor,
    { action: `${resource.name}.create`, ...placeOf(resource, row), after: auditOf(resource, row) },
    (tx) => [...checks(tx), tx.insert(resource.table).values({ ...row, ...computed }), ...further(tx)],
  )

/**
 * Changes columns of a row and returns the changed row; writes nothing if there is nothing to change. `note` is added
 * to the audit entry. Throws `refusal()`, a 409 by default, if the row was deleted since it was read, or if `condition`
 * does not hold for it.
 */
export async function updateRow<T extends AnyTable, F extends Fields>(
  deps: ChangeDeps,
  actor: Actor,
  resource: Resource<T, F>,
  row: T['$inferSelect'],
  columns: Partial<T['$inferSelect']>,
  {
    note,
    condition,
    checks = () => [],
    refusal = () =>
      conflict(`Another request changed this ${resource.noun} at the same time: read it and try again`),
  }: {
    note?: JsonObject
    condition?: SQL | undefined
    checks?: (tx: Db) => readonly Write[]
    refusal?: () => Error
  } = {},
): Promise<T['$inferSelect']> {
  if (Object.keys(columns).length === 0) return row
  const set = { ...columns, updated_at: new Date(deps.now()) }
  const changed = { ...row, ...set }
  const { before, after } = difference(auditOf(resource, row), auditOf(resource, changed))
  const place = placeOf(resource, row)
  await change(
    deps,
    actor,
    { action: `${resource.name}.update`, ...place, before, after: { ...after, ...note } },
    (tx) => [
      ...checks(tx),
      mustChange(
        tx
          .update(resource.table)
          .set(set)
          .where(and(eq(resource.key, place.resourceId), condition)),
        refusal,
      ),
    ],
  )
  return changed
}

/** Deletes a row, or does what `writes` does instead, with its audit entry. */
export const deleteRow = <T extends AnyTable, F extends Fields>(
  deps: ChangeDeps,
  actor: Actor,
  resource: Resource<T, F>,
  row: T['$inferSelect'],
  writes?: (tx: Db) => readonly Write[],
): Promise<void> => {
  const place = placeOf(resource, row)
  return change(
    deps,
    actor,
    { action: `${resource.name}.delete`, ...place, before: auditOf(resource, row) },
    writes ?? ((tx) => [tx.delete(resource.table).where(eq(resource.key, place.resourceId))]),
  )
}
