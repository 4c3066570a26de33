import { and, eq, isNull, or } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { notFound } from '../../core/errors.ts'
import type { Database } from '../../db/database.ts'
import { workspaces } from '../../db/tables.ts'
import type { WorkspaceRow } from './schema.ts'

/**
 * The workspace of this UUID or slug. To an inference key every workspace but its own is as if it were not there:
 * the same 404.
 */
export async function findWorkspace(
  { db }: Database,
  caller: Caller,
  idOrSlug: string,
): Promise<WorkspaceRow> {
  const [row] = await db
    .select()
    .from(workspaces)
    .where(
      and(
        or(eq(workspaces.id, idOrSlug.toLowerCase()), eq(workspaces.slug, idOrSlug)),
        isNull(workspaces.deleted_at),
      ),
    )
  const maySee = row !== undefined && (caller.key.kind === 'management' || row.id === caller.key.workspaceId)
  if (!maySee) throw notFound('There is no workspace with this id or slug')
  return row
}
