/** Presets, one line for each field, and their versions. */
import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../core/events.ts'
import { nullable } from '../http/schemas.ts'
import { integer, json, table, text, uniqueIndex } from './columns.ts'
import * as field from './fields.ts'
import { choice, shownUuid, words } from './kinds.ts'
import { byUser, ofWorkspace } from './table-parts.ts'

const fields = {
  id: field.given(text().primaryKey(), shownUuid('The preset.')),
  workspace_id: field.given(ofWorkspace(), shownUuid('The workspace that it belongs to.')),
  slug: field.given(text().notNull(), Type.String()),
  name: field.required(words({ minLength: 1, maxLength: 200 })),
  description: field.optional(words({ maxLength: 1000 })),
  status: field.withDefault(
    choice(
      ['active', 'disabled', 'archived'],
      'Requests can only use an active one; an archived one exists for its history.',
    ),
    'active',
  ),
  status_updated_at: field.shownInstant('When the status was last changed; null: never.'),
  designated_version_id: {
    ...field.given(text(), nullable(shownUuid('The version that requests get.'))),
    initial: null,
    audited: true,
  },
  creator_user_id: field.given(byUser(), Type.String()),
  created_at: field.createdInstant(),
  updated_at: field.changedInstant(),
}

export const presets = table('presets', field.columnsOf(fields), (t) => [
  uniqueIndex('presets_slug').on(t.workspace_id, t.slug),
])
export const preset = field.resourceOf('preset', presets.id, presets, fields)
export type PresetRow = typeof presets.$inferSelect

const versionFields = {
  id: field.given(text().primaryKey(), shownUuid('The version.')),
  preset_id: field.given(
    text()
      .notNull()
      .references(() => presets.id, { onDelete: 'cascade' }),
    shownUuid('The preset.'),
  ),
  /** 1, 2, 3 … without gaps. */
  version: field.given(integer().notNull(), Type.Number({ documented: { type: 'integer' } })),
  config: field.given(
    json<JsonObject>().notNull(),
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Settings of a request, in the terms of chat completions.',
    }),
  ),
  system_prompt: field.given(text(), nullable(Type.String())),
  creator_id: field.given(byUser(), Type.String()),
  created_at: field.createdInstant(),
  updated_at: field.changedInstant('Equals created_at: a version never changes.'),
}

export const presetVersions = table('preset_versions', field.columnsOf(versionFields), (t) => [
  uniqueIndex('preset_versions_number').on(t.preset_id, t.version),
])
export const presetVersion = field.resourceOf(
  'preset_version',
  presetVersions.id,
  presetVersions,
  versionFields,
  'version',
)
export type PresetVersionRow = typeof presetVersions.$inferSelect
