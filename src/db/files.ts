/** Metadata of uploaded files; their bytes are in the data folder, named by the id. One line for each field. */
import { Type } from '@sinclair/typebox'
import { index, integer, table, text } from './columns.ts'
import { columnsOf, createdInstant, given, hidden, resourceOf } from './fields.ts'
import { ofWorkspace } from './table-parts.ts'

const audited = true
const fields = {
  /** `file_…` */
  id: given(text().primaryKey(), Type.String()),
  workspace_id: hidden(ofWorkspace()),
  filename: { ...given(text().notNull(), Type.String()), audited },
  mime_type: { ...given(text().notNull(), Type.String({ description: 'By its content.' })), audited },
  size_bytes: { ...given(integer().notNull(), Type.Number({ documented: { type: 'integer' } })), audited },
  /** Of the content, in hex. */
  sha256: { ...hidden(text().notNull()), audited },
  created_by_key: hidden(text().notNull()),
  created_at: createdInstant('When it was uploaded.'),
}

export const files = table('files', columnsOf(fields), (t) => [
  index('files_workspace').on(t.workspace_id, t.id),
])
export const file = resourceOf('file', files.id, files, fields)
