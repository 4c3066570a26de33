/** Presets, one line for each field, and their versions. */
import { Type } from '@sinclair/typebox'
import type { JsonObject } from '../core/events.ts'
import { nullable } from '../http/schemas.ts'
import { integer, json, table, text, uniqueIndex } from './columns.ts'
import {
  changedInstant,
  columnsOf,
  createdInstant,
  given,
  optional,
  required,
  resourceOf,
  shownInstant,
  withDefault,
} from './fields.ts'
import { choice, shownUuid, words } from './kinds.ts'
import { byUser, ofWorkspace } from './table-parts.ts'

const fields = {
  id: given(text().primaryKey(), shownUuid('The preset.')),
  workspace_id: given(ofWorkspace(), shownUuid('The workspace that it belongs to.')),
  slug: given(text().notNull(), Type.String()),
  name: required(words({ minLength: 1, maxLength: 200 })),
  description: optional(words({ maxLength: 1000 })),
  status: withDefault(
    choice(
      ['active', 'disabled', 'archived'],
      'Requests can only use an active one; an archived one exists for its history.',
    ),
    'active',
  ),
  status_updated_at: shownInstant('When the status was last changed; null: never.'),
  designated_version_id: {
    ...given(text(), nullable(shownUuid('The version that requests get.'))),
    initial: null,
    audited: true,
  },
  creator_user_id: given(byUser(), Type.String()),
  created_at: createdInstant(),
  updated_at: changedInstant(),
}

export const presets = table('presets', columnsOf(fields), (t) => [
  uniqueIndex('presets_slug').on(t.workspace_id, t.slug),
])
export const preset = resourceOf('preset', presets.id, presets, fields)
export type PresetRow = typeof presets.$inferSelect

const versionFields = {
  id: given(text().primaryKey(), shownUuid('The version.')),
  preset_id: given(
    text()
      .notNull()
      .references(() => presets.id, { onDelete: 'cascade' }),
    shownUuid('The preset.'),
  ),
  /** 1, 2, 3 … without gaps. */
  version: given(integer().notNull(), Type.Number({ documented: { type: 'integer' } })),
  config: given(
    json<JsonObject>().notNull(),
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'Settings of a request, in the terms of chat completions.',
    }),
  ),
  system_prompt: given(text(), nullable(Type.String())),
  creator_id: given(byUser(), Type.String()),
  created_at: createdInstant(),
  updated_at: changedInstant('Equals created_at: a version never changes.'),
}

export const presetVersions = table('preset_versions', columnsOf(versionFields), (t) => [
  uniqueIndex('preset_versions_number').on(t.preset_id, t.version),
])
export const presetVersion = resourceOf(
  'preset_version',
  presetVersions.id,
  presetVersions,
  versionFields,
  'version',
)
export type PresetVersionRow = typeof presetVersions.$inferSelect
