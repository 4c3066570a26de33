import { eq, inArray } from 'drizzle-orm'
import type { PresetRecord } from '../core/snapshot.ts'
import type { Database } from '../db/database.ts'
import { presets, presetVersions } from '../db/tables.ts'

/** By slug and by id. */
export type PresetsOfWorkspace = ReadonlyMap<string, PresetRecord>

/** By workspace, at their designated versions. Absent `workspaceIds`: of all. */
export function readPresets(
  { sync }: Database,
  workspaceIds?: readonly string[],
): ReadonlyMap<string, PresetsOfWorkspace> {
  const rows = sync
    .select({ preset: presets, version: presetVersions })
    .from(presets)
    .innerJoin(presetVersions, eq(presetVersions.id, presets.designated_version_id))
    .where(workspaceIds && inArray(presets.workspace_id, [...workspaceIds]))
    .all()
  const byWorkspace = new Map<string, Map<string, PresetRecord>>()
  for (const { preset, version } of rows) {
    const own = byWorkspace.get(preset.workspace_id) ?? new Map<string, PresetRecord>()
    byWorkspace.set(preset.workspace_id, own)
    const record: PresetRecord = {
      id: preset.id,
      status: preset.status,
      config: version.config,
      systemPrompt: version.system_prompt,
    }
    own.set(preset.slug, record)
    own.set(preset.id, record)
  }
  return byWorkspace
}
