import { and, count, desc, eq } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import type { Caller } from '../../core/caller.ts'
import { notFound } from '../../core/errors.ts'
import { presets, presetVersions } from '../../db/tables.ts'
import { pageOf } from '../../http/schemas.ts'
import { type ChangeDeps, change, difference } from '../change.ts'
import { workspaceOf } from '../workspace-of.ts'
import { findPreset } from './find.ts'
import {
  type ListPresetsQuery,
  type Preset,
  type PresetRow,
  type PresetVersion,
  type PresetWithVersion,
  presetVersionView,
  presetView,
  type UpdatePresetBody,
} from './schema.ts'

/** In the order of their making, archived ones too. */
export async function listPresets(
  deps: ChangeDeps,
  caller: Caller,
  query: ListPresetsQuery,
): Promise<{ data: Preset[]; total_count: number }> {
  const workspaceId = workspaceOf(caller, query.workspace_id, deps.snapshot.current())
  const listed = eq(presets.workspace_id, workspaceId)
  const { limit, offset } = pageOf(query)
  const { db } = deps.database
  const rows = await db.select().from(presets).where(listed).orderBy(presets.id).limit(limit).offset(offset)
  const [total] = await db.select({ presets: count() }).from(presets).where(listed)
  return { data: rows.map(presetView), total_count: total?.presets ?? 0 }
}

export async function getPreset(
  deps: ChangeDeps,
  caller: Caller,
  slug: string,
  workspace: string | undefined,
): Promise<PresetWithVersion> {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  return withDesignated(deps, await findPreset(deps.database, workspaceId, slug))
}

/** With the version that requests get. */
async function withDesignated({ database }: ChangeDeps, row: PresetRow): Promise<PresetWithVersion> {
  const [version] =
    row.designated_version_id === null
      ? []
      : await database.db
          .select()
          .from(presetVersions)
          .where(eq(presetVersions.id, row.designated_version_id))
  return { ...presetView(row), designated_version: version === undefined ? null : presetVersionView(version) }
}

/** Newest first. */
export async function listVersions(
  deps: ChangeDeps,
  caller: Caller,
  slug: string,
  query: ListPresetsQuery,
): Promise<{ data: PresetVersion[]; total_count: number }> {
  const workspaceId = workspaceOf(caller, query.workspace_id, deps.snapshot.current())
  const row = await findPreset(deps.database, workspaceId, slug)
  const listed = eq(presetVersions.preset_id, row.id)
  const { limit, offset } = pageOf(query)
  const { db } = deps.database
  const rows = await db
    .select()
    .from(presetVersions)
    .where(listed)
    .orderBy(desc(presetVersions.version))
    .limit(limit)
    .offset(offset)
  const [total] = await db.select({ versions: count() }).from(presetVersions).where(listed)
  return { data: rows.map(presetVersionView), total_count: total?.versions ?? 0 }
}

export async function getVersion(
  deps: ChangeDeps,
  caller: Caller,
  slug: string,
  number: number,
  workspace: string | undefined,
): Promise<PresetVersion> {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  const row = await findPreset(deps.database, workspaceId, slug)
  return presetVersionView(await requireVersion(deps, row, number))
}

/** The change holds for the next request. */
export async function updatePreset(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  slug: string,
  workspace: string | undefined,
  { designated_version: number, ...body }: UpdatePresetBody,
): Promise<PresetWithVersion> {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  const row = await findPreset(deps.database, workspaceId, slug)
  const now = new Date(deps.now())
  const version = number === undefined ? undefined : await requireVersion(deps, row, number)
  const isOtherStatus = body.status !== undefined && body.status !== row.status
  const changes: Partial<PresetRow> = {
    ...body,
    ...(version === undefined ? {} : { designated_version_id: version.id }),
    ...(isOtherStatus ? { status_updated_at: now } : {}),
  }
  if (Object.keys(changes).length === 0) return withDesignated(deps, row)
  const changed: PresetRow = { ...row, ...changes, updated_at: now }
  const update = {
    action: 'preset.update',
    resourceId: row.id,
    workspaceId,
    ...difference(settingsOf(row), settingsOf(changed)),
  } as const
  await change(deps, actor, update, (tx) => [
    tx
      .update(presets)
      .set({ ...changes, updated_at: now })
      .where(eq(presets.id, row.id)),
  ])
  return withDesignated(deps, changed)
}

const settingsOf = ({ name, description, status, designated_version_id }: PresetRow) => ({
  name,
  description,
  status,
  designated_version_id,
})

async function requireVersion({ database }: ChangeDeps, row: PresetRow, number: number) {
  const [version] = await database.db
    .select()
    .from(presetVersions)
    .where(and(eq(presetVersions.preset_id, row.id), eq(presetVersions.version, number)))
  if (version === undefined) throw notFound(`The preset has no version ${number}`)
  return version
}
