import { and, eq, sql } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import type { JsonObject } from '../../../core/events.ts'
import { newUuid } from '../../../core/ids.ts'
import { selectRows } from '../../../db/columns.ts'
import { isTaken } from '../../../db/database.ts'
import { newRow } from '../../../db/fields.ts'
import { type PresetRow, preset, presets, presetVersions } from '../../../db/tables.ts'
import { ingresses } from '../../../dialects/index.ts'
import { type PresetDialect, presetForms } from '../../../dialects/presets/index.ts'
import { type ChangeDeps, change } from '../../change.ts'
import { workspaceOf } from '../../workspace-of.ts'
import { type PresetReply, presetWith } from './service.ts'

/** Required by requests and not stored in presets: bodies are checked as if they had these. */
const STAND_IN: Readonly<Record<PresetDialect, JsonObject>> = {
  chat: { messages: [{ role: 'user', content: 'x' }] },
  responses: { input: 'x' },
  gemini: { contents: [{ role: 'user', parts: [{ text: 'x' }] }] },
  messages: { messages: [{ role: 'user', content: 'x' }] },
}

/**
 * Stores the settings of a request as the next version of a preset, which requests get from now on; the first one
 * creates the preset. Versions count up without gaps, also if several are made at once. Throws a `GatewayError` 400 for
 * a body that its own route would reject.
 */
export async function createPreset(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  dialect: PresetDialect,
  slug: string,
  workspace: string | undefined,
  body: JsonObject,
): Promise<PresetReply> {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  ingresses[dialect].parse({ ...STAND_IN[dialect], ...body }, new Headers())
  const { config, systemPrompt } = presetForms[dialect].take(body)
  const now = new Date(deps.now())
  const { db } = deps.database
  const isWanted = and(eq(presets.workspace_id, workspaceId), eq(presets.slug, slug))
  const [known] = await selectRows(db, presets, isWanted)
  const versionId = newUuid()
  const row: PresetRow = {
    ...(known ??
      newRow(
        preset,
        { name: slug },
        {
          id: newUuid(),
          workspace_id: workspaceId,
          slug,
          creator_user_id: actor.userId,
          created_at: now,
          updated_at: now,
        },
      )),
    designated_version_id: versionId,
    updated_at: now,
  }
  const version = {
    id: versionId,
    preset_id: row.id,
    // Computed by the insert itself, so that two at once get two numbers.
    version: sql<number>`(select coalesce(max(${presetVersions.version}), 0) + 1 from ${presetVersions} where ${presetVersions.preset_id} = ${row.id})`,
    config,
    system_prompt: systemPrompt,
    creator_id: actor.userId,
    created_at: now,
    updated_at: now,
  }
  const made = {
    action: known === undefined ? 'preset.create' : 'preset.add_version',
    resourceId: row.id,
    workspaceId,
    after: { slug, config, system_prompt: systemPrompt },
  } as const
  const set = { designated_version_id: versionId, updated_at: now }
  try {
    await change(deps, actor, made, (tx) => [
      tx.insert(presets).values(row).onConflictDoUpdate({ target: presets.id, set }),
      tx.insert(presetVersions).values(version),
    ])
  } catch (thrown) {
    // Another request created the preset first: this one adds the next version.
    if (known === undefined && isTaken(thrown, 'slug'))
      return await createPreset(deps, caller, actor, dialect, slug, workspace, body)
    throw thrown
  }
  const [stored] = await selectRows(db, presetVersions, eq(presetVersions.id, versionId))
  return presetWith(row, stored)
}
