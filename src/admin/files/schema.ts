import { type Static, t } from 'elysia'
import type { FileRow } from '../../files/store.ts'
import { instant, nullable, uuid } from '../../http/schemas.ts'

const ofWorkspace = { workspace_id: t.Optional(uuid("Default: the caller's workspace.")) }
export const fileQuery = t.Object(ofWorkspace, { additionalProperties: true })
export const fileParams = t.Object({
  file_id: t.String({ minLength: 1, maxLength: 100, description: '`file_…`' }),
})

export const listFilesQuery = t.Object(
  {
    ...ofWorkspace,
    limit: t.Optional(
      t.String({
        pattern: '^(?:[1-9][0-9]{0,2}|1000)$',
        maxLength: 4,
        expects: 'an integer from 1 to 1000',
        documented: { type: 'integer', minimum: 1, maximum: 1000 },
        description: 'How many files to answer with; default 100.',
      }),
    ),
    cursor: t.Optional(
      t.String({ minLength: 1, maxLength: 200, description: 'The `cursor` of the page before.' }),
    ),
  },
  { additionalProperties: false },
)
export type ListFilesQuery = Static<typeof listFilesQuery>

const shape = t.Literal('openrouter', { description: 'Tells clients which form this is.' })

export const file = t.Object({
  _shape: shape,
  id: t.String(),
  type: t.Literal('file'),
  filename: t.String(),
  mime_type: t.String({ description: 'By its content.' }),
  size_bytes: t.Number({ documented: { type: 'integer' } }),
  downloadable: t.Boolean(),
  created_at: instant('When it was uploaded.'),
})
export type File = Static<typeof file>

export const fileList = t.Object({
  _shape: shape,
  data: t.Array(file),
  first_id: nullable(t.String()),
  last_id: nullable(t.String()),
  has_more: t.Boolean(),
  cursor: nullable(t.String({ description: 'Of the next page; null: this is the last one.' })),
})
export type FileList = Static<typeof fileList>

export const fileDeleted = t.Object({ _shape: shape, id: t.String(), type: t.Literal('file_deleted') })

export const uploadForm = t.Object({
  file: t.String({ documented: { type: 'string', format: 'binary' }, description: 'The file itself.' }),
})

export const fileView = (row: FileRow): File => ({
  _shape: 'openrouter',
  id: row.id,
  type: 'file',
  filename: row.filename,
  mime_type: row.mime_type,
  size_bytes: row.size_bytes,
  downloadable: true,
  created_at: row.created_at.toISOString(),
})
