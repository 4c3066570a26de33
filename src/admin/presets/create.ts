import { and, eq, max } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import type { Caller } from '../../core/caller.ts'
import type { JsonObject } from '../../core/events.ts'
import { newUuid } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import { presets, presetVersions } from '../../db/tables.ts'
import { ingresses } from '../../dialects/index.ts'
import { type PresetDialect, presetForms } from '../../dialects/presets/index.ts'
import { type ChangeDeps, change } from '../change.ts'
import { workspaceOf } from '../workspace-of.ts'
import {
  type PresetRow,
  type PresetVersionRow,
  type PresetWithVersion,
  presetVersionView,
  presetView,
} from './schema.ts'

/** What a request must have and a preset does not keep: a body without them is checked as if it had these. */
const STAND_IN: Readonly<Record<PresetDialect, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
  messages: { messages: [{ role: 'user', content: 'x' }] },
}

/**
 * Keeps the settings of a request as the next version of a preset, which requests get from now on; the first one makes
 * the preset. Versions count up without gaps, also when several are made at once. Throws a `GatewayError` 400 for a
 * body that its own route would refuse.
 */
export async function createPreset(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  dialect: PresetDialect,
  slug: string,
  workspace: string | undefined,
  body: JsonObject,
): Promise<PresetWithVersion> {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  ingresses[dialect].parse({ ...STAND_IN[dialect], ...body }, new Headers())
  const { config, systemPrompt } = presetForms[dialect].take(body)
  const now = new Date(deps.now())
  const known = presetAt(deps.database, workspaceId, slug)
  const version: PresetVersionRow = {
    id: newUuid(),
    preset_id: known?.id ?? newUuid(),
    version: 0,
    config,
    system_prompt: systemPrompt,
    creator_id: actor.userId,
    created_at: now,
    updated_at: now,
  }
  const row: PresetRow = {
    ...(known ?? firstOf(version, workspaceId, slug)),
    designated_version_id: version.id,
    updated_at: now,
  }
  const made = {
    action: known === undefined ? 'preset.create' : 'preset.add_version',
    resourceId: row.id,
    workspaceId,
    after: { slug, config, system_prompt: systemPrompt },
  } as const
  await change(deps, actor, made, (tx) => {
    version.version = lastVersion(deps.database, row.id) + 1
    return [
      tx
        .insert(presets)
        .values(row)
        .onConflictDoUpdate({
          target: presets.id,
          set: { designated_version_id: version.id, updated_at: now },
        }),
      tx.insert(presetVersions).values(version),
    ]
  })
  return { ...presetView(row), designated_version: presetVersionView(version) }
}

const presetAt = ({ sync }: Database, workspaceId: string, slug: string): PresetRow | undefined =>
  sync
    .select()
    .from(presets)
    .where(and(eq(presets.workspace_id, workspaceId), eq(presets.slug, slug)))
    .get()

const lastVersion = ({ sync }: Database, presetId: string): number =>
  sync
    .select({ last: max(presetVersions.version) })
    .from(presetVersions)
    .where(eq(presetVersions.preset_id, presetId))
    .get()?.last ?? 0

const firstOf = (
  { preset_id: id, creator_id, created_at }: PresetVersionRow,
  workspaceId: string,
  slug: string,
): PresetRow => ({
  id,
  workspace_id: workspaceId,
  slug,
  name: slug,
  description: null,
  status: 'active',
  status_updated_at: null,
  designated_version_id: null,
  creator_user_id: creator_id,
  created_at,
  updated_at: created_at,
})
