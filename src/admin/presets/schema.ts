import { type Static, t } from 'elysia'
import type { presets, presetVersions } from '../../db/tables.ts'
import { instant, integer, nullable, pageQuery, uuid } from '../../http/schemas.ts'

export type PresetRow = typeof presets.$inferSelect
export type PresetVersionRow = typeof presetVersions.$inferSelect

const slug = t.String({
  pattern: '^[A-Za-z0-9](?:[A-Za-z0-9._~-]{0,98}[A-Za-z0-9])?$',
  maxLength: 100,
  expects: '1 to 100 letters, digits, ".", "_", "~" and "-", beginning and ending with a letter or digit',
  documented: { type: 'string', minLength: 1, maxLength: 100 },
  description: 'What requests name: `@preset/<slug>`.',
})

export const presetParams = t.Object({ slug })
export const versionParams = t.Object({
  slug,
  version: t.String({
    pattern: '^[1-9][0-9]{0,8}$',
    maxLength: 9,
    expects: 'a version: 1, 2, 3, …',
    documented: { type: 'integer', minimum: 1 },
    description: 'Its number.',
  }),
})

const ofWorkspace = { workspace_id: t.Optional(uuid("Default: the caller's workspace.")) }
export const presetQuery = t.Object(ofWorkspace, { additionalProperties: true })
export const listPresetsQuery = pageQuery(ofWorkspace)
export type ListPresetsQuery = Static<typeof listPresetsQuery>

const status = t.Union([t.Literal('active'), t.Literal('disabled'), t.Literal('archived')], {
  description: 'Only an active one is used; an archived one is kept for its history.',
})

export const updatePresetBody = t.Object(
  {
    name: t.Optional(t.String({ minLength: 1, maxLength: 200 })),
    description: t.Optional(nullable(t.String({ maxLength: 1000 }))),
    status: t.Optional(status),
    designated_version: t.Optional(
      integer({ minimum: 1, description: 'The number of the version that requests get.' }),
    ),
  },
  { additionalProperties: false },
)
export type UpdatePresetBody = Static<typeof updatePresetBody>

/** A request of the dialect: its own route documents it. */
export const requestBody = t.Object({}, { additionalProperties: true })

const id = (description: string) => t.String({ documented: { type: 'string', format: 'uuid' }, description })

export const preset = t.Object({
  id: id('The preset.'),
  workspace_id: id('Where it belongs.'),
  slug: t.String(),
  name: t.String(),
  description: nullable(t.String()),
  status,
  status_updated_at: nullable(instant('When the status was last changed; null: never.')),
  designated_version_id: nullable(id('The version that requests get.')),
  creator_user_id: t.String(),
  created_at: instant('When it was made.'),
  updated_at: instant('When it was last changed.'),
})
export type Preset = Static<typeof preset>

export const presetVersion = t.Object({
  id: id('The version.'),
  preset_id: id('The preset.'),
  version: t.Number({ documented: { type: 'integer' } }),
  config: t.Record(t.String(), t.Unknown(), { description: 'Settings of a request, in the words of chat.' }),
  system_prompt: nullable(t.String()),
  creator_id: t.String(),
  created_at: instant('When it was made.'),
  updated_at: instant('The same: a version is never changed.'),
})
export type PresetVersion = Static<typeof presetVersion>

export const presetWithVersion = t.Object({
  ...preset.properties,
  designated_version: nullable(presetVersion),
})
export type PresetWithVersion = Static<typeof presetWithVersion>

export const presetView = (row: PresetRow): Preset => ({
  id: row.id,
  workspace_id: row.workspace_id,
  slug: row.slug,
  name: row.name,
  description: row.description,
  status: row.status,
  status_updated_at: row.status_updated_at?.toISOString() ?? null,
  designated_version_id: row.designated_version_id,
  creator_user_id: row.creator_user_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})

export const presetVersionView = (row: PresetVersionRow): PresetVersion => ({
  id: row.id,
  preset_id: row.preset_id,
  version: row.version,
  config: row.config,
  system_prompt: row.system_prompt,
  creator_id: row.creator_id,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
})
