import { type Static, t } from 'elysia'
import { viewOf } from '../../../db/fields.ts'
import { file } from '../../../db/tables.ts'
import type { FileRow } from '../../../files/store.ts'
import { inWorkspace, nullable, queryInteger } from '../../../http/schemas.ts'

export const fileQuery = t.Object(inWorkspace, { additionalProperties: true })
export const fileParams = t.Object({
  file_id: t.String({ minLength: 1, maxLength: 100, description: '`file_…`' }),
})

export const listFilesQuery = t.Object(
  {
    ...inWorkspace,
    limit: queryInteger(1, 1000, 'Number of files to return; default 100.'),
    cursor: t.Optional(
      t.String({ minLength: 1, maxLength: 200, description: 'The `cursor` of the page before.' }),
    ),
  },
  { additionalProperties: false },
)
export type ListFilesQuery = Static<typeof listFilesQuery>

const shape = t.Literal('openrouter', { description: 'Identifies the form of the reply.' })

export const fileReply = t.Object({
  _shape: shape,
  type: t.Literal('file'),
  downloadable: t.Boolean(),
  ...file.view.properties,
})
type File = Static<typeof fileReply>

export const searchedFileReply = t.Object({
  ...fileReply.properties,
  search: nullable(
    t.Object(
      {
        status: t.Union(
          [t.Literal('unread'), t.Literal('reading'), t.Literal('ready'), t.Literal('refused')],
          {
            description:
              '`unread`: the first search that includes the file reads it. `reading`: it waits to be read, or is being read. `ready`: searches find its passages. `refused`: it cannot be searched.',
          },
        ),
        reason: t.Optional(t.String({ description: 'Why it cannot be searched.' })),
      },
      { description: 'How far `file_search` is with the file; null: its index does not answer.' },
    ),
  ),
})

export const fileList = t.Object({
  _shape: shape,
  data: t.Array(fileReply),
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
  type: 'file',
  downloadable: true,
  ...viewOf(file, row),
})
