import { index, integer, table, text } from './columns.ts'
import { createdAt, ofWorkspace } from './table-parts.ts'

/** Metadata of uploaded files; their bytes lie in the data folder, named by the id. */
export const files = table(
  'files',
  {
    /** `file_…` */
    id: text().primaryKey(),
    workspace_id: ofWorkspace(),
    filename: text().notNull(),
    mime_type: text().notNull(),
    size_bytes: integer().notNull(),
    /** Of the content, in hex. */
    sha256: text().notNull(),
    created_by_key: text().notNull(),
    created_at: createdAt(),
  },
  (t) => [index('files_workspace').on(t.workspace_id, t.id)],
)
