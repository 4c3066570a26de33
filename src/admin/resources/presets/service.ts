import { type Static, Type } from '@sinclair/typebox'
import { and, eq } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { notFound } from '../../../core/errors.ts'
import { selectRows } from '../../../db/columns.ts'
import { storedOf, viewOf } from '../../../db/fields.ts'
import {
  type PresetRow,
  type PresetVersionRow,
  preset,
  presets,
  presetVersion,
  presetVersions,
} from '../../../db/tables.ts'
import { integer, inWorkspace, nullable } from '../../../http/schemas.ts'
import type { ChangeDeps } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { findRow, updateRow } from '../../resource.ts'
import { workspaceOf } from '../../workspace-of.ts'

export const updateBody = Type.Object(
  {
    ...preset.update.properties,
    designated_version: Type.Optional(
      integer({ minimum: 1, description: 'The number of the version that requests get.' }),
    ),
  },
  { additionalProperties: false },
)
export const presetReply = Type.Object({
  ...preset.view.properties,
  designated_version: nullable(presetVersion.view),
})
export type PresetReply = Static<typeof presetReply>
type PresetVersion = Static<typeof presetVersion.view>

/** Default order: of creation. Archived presets are listed too. */
export const presetList = listing({
  rows: (db, where) => selectRows(db, presets, where),
  sorts: [presets.id, presets.created_at, presets.updated_at, presets.name, presets.slug],
  order: 'id',
  key: presets.id,
  searched: [presets.slug, presets.name, presets.description],
  filters: inWorkspace,
})
/** Default order: newest first. */
export const versionList = listing({
  rows: (db, where) => selectRows(db, presetVersions, where),
  sorts: [presetVersions.version],
  order: '-version',
  key: presetVersions.id,
  searched: [presetVersions.system_prompt],
  filters: inWorkspace,
})

export function listPresets(deps: ChangeDeps, caller: Caller, query: Static<typeof presetList.query>) {
  const where = eq(presets.workspace_id, workspaceOf(caller, query.workspace_id, deps.snapshot.current()))
  return listPage(deps.database, presetList, query, where, (row) => viewOf(preset, row))
}

async function findPreset(deps: ChangeDeps, caller: Caller, slug: string, workspace: string | undefined) {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  return await findRow(deps, preset, slug, eq(presets.workspace_id, workspaceId), presets.slug)
}

export async function getPreset(
  deps: ChangeDeps,
  caller: Caller,
  slug: string,
  workspace: string | undefined,
): Promise<PresetReply> {
  return withDesignated(deps, await findPreset(deps, caller, slug, workspace))
}

/** With the version that requests get. */
async function withDesignated({ database }: ChangeDeps, row: PresetRow): Promise<PresetReply> {
  const [version] =
    row.designated_version_id === null
      ? []
      : await selectRows(database.db, presetVersions, eq(presetVersions.id, row.designated_version_id))
  return presetWith(row, version)
}

export const presetWith = (row: PresetRow, version: PresetVersionRow | undefined): PresetReply => ({
  ...viewOf(preset, row),
  designated_version: version === undefined ? null : viewOf(presetVersion, version),
})

export async function listVersions(
  deps: ChangeDeps,
  caller: Caller,
  slug: string,
  query: Static<typeof versionList.query>,
) {
  const { id } = await findPreset(deps, caller, slug, query.workspace_id)
  const where = eq(presetVersions.preset_id, id)
  return listPage(deps.database, versionList, query, where, (row) => viewOf(presetVersion, row))
}

export async function getVersion(
  deps: ChangeDeps,
  caller: Caller,
  slug: string,
  number: number,
  workspace: string | undefined,
): Promise<PresetVersion> {
  const row = await findPreset(deps, caller, slug, workspace)
  return viewOf(presetVersion, await findVersion(deps, row, number))
}

/** The change holds for the next request. */
export async function updatePreset(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  slug: string,
  workspace: string | undefined,
  { designated_version: number, ...body }: Static<typeof updateBody>,
): Promise<PresetReply> {
  const row = await findPreset(deps, caller, slug, workspace)
  const version = number === undefined ? undefined : await findVersion(deps, row, number)
  const isOtherStatus = body.status !== undefined && body.status !== row.status
  const columns: Partial<PresetRow> = {
    ...storedOf(preset, body),
    ...(version && { designated_version_id: version.id }),
    ...(isOtherStatus && { status_updated_at: new Date(deps.now()) }),
  }
  return withDesignated(deps, await updateRow(deps, actor, preset, row, columns))
}

async function findVersion({ database }: ChangeDeps, { id }: PresetRow, number: number) {
  const isWanted = and(eq(presetVersions.preset_id, id), eq(presetVersions.version, number))
  const [version] = await selectRows(database.db, presetVersions, isWanted)
  if (version === undefined) throw notFound(`The preset has no version ${number}`)
  return version
}
