import { and, eq } from 'drizzle-orm'
import { notFound } from '../../core/errors.ts'
import type { Database } from '../../db/database.ts'
import { presets } from '../../db/tables.ts'
import type { PresetRow } from './schema.ts'

export async function findPreset({ db }: Database, workspaceId: string, slug: string): Promise<PresetRow> {
  const [row] = await db
    .select()
    .from(presets)
    .where(and(eq(presets.workspace_id, workspaceId), eq(presets.slug, slug)))
  if (row === undefined) throw notFound('There is no preset with this slug')
  return row
}
