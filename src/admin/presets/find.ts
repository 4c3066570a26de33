import { and, eq } from 'drizzle-orm'
import type { Caller } from '../../core/caller.ts'
import { notFound } from '../../core/errors.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import type { Database } from '../../db/database.ts'
import { presets } from '../../db/tables.ts'
import type { PresetRow } from './schema.ts'

/** The workspace that a request means: the one that it names, else the caller's. An inference key may name its own alone. */
export function workspaceOf(caller: Caller, named: string | undefined, snapshot: Snapshot): string {
  const id = named?.toLowerCase() ?? caller.workspace.id
  const maySee = caller.key.kind === 'management' || id === caller.workspace.id
  if (!maySee || !snapshot.workspacesById.has(id)) throw notFound('There is no workspace with this id')
  return id
}

export async function findPreset({ db }: Database, workspaceId: string, slug: string): Promise<PresetRow> {
  const [row] = await db
    .select()
    .from(presets)
    .where(and(eq(presets.workspace_id, workspaceId), eq(presets.slug, slug)))
  if (row === undefined) throw notFound('There is no preset with this slug')
  return row
}
