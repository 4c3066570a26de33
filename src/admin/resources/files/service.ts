import { and, eq, gt } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import { newFileId } from '../../../core/ids.ts'
import { auditOf } from '../../../db/fields.ts'
import { file, files } from '../../../db/tables.ts'
import type { FileRow, FileStore } from '../../../files/store.ts'
import { type ChangeDeps, change } from '../../change.ts'
import { deleteRow } from '../../resource.ts'
import { workspaceOf } from '../../workspace-of.ts'
import { type FileList, fileView, type ListFilesQuery } from './schema.ts'

export interface FileDeps extends ChangeDeps {
  files: FileStore
}

/** Bytes. */
const FILE_LIMIT = 100_000_000
const DEFAULT_PAGE = 100

/** Stores the file of a form. Its type is detected from its content, not from its name or the form. */
export async function uploadFile(
  deps: FileDeps,
  caller: Caller,
  actor: Actor,
  workspace: string | undefined,
  request: Request,
) {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  await deps.files.refuseBeyondQuota(workspaceId, 1)
  const received = await deps.files.receive(request, FILE_LIMIT)
  const row: FileRow = {
    id: newFileId(),
    workspace_id: workspaceId,
    filename: received.filename,
    mime_type: received.mimeType,
    size_bytes: received.sizeBytes,
    sha256: received.sha256,
    created_by_key: caller.key.hash,
    created_at: new Date(deps.now()),
  }
  try {
    await deps.files.refuseBeyondQuota(workspaceId, row.size_bytes)
    await received.keep(row.id)
    const kept = {
      action: 'file.create',
      resourceId: row.id,
      workspaceId,
      after: auditOf(file, row),
    } as const
    await change(deps, actor, kept, (tx) => {
      // Again, inside the transaction: the workspace may have been deleted during the upload.
      workspaceOf(caller, workspace, deps.snapshot.current())
      return [deps.files.mustFit(tx, workspaceId, row.size_bytes), tx.insert(files).values(row)]
    })
  } catch (error) {
    await Promise.all([received.discard(), deps.files.remove(row.id, workspaceId)])
    throw error
  }
  return fileView(row)
}

/** Oldest first. */
export async function listFiles(deps: FileDeps, caller: Caller, query: ListFilesQuery): Promise<FileList> {
  const workspaceId = workspaceOf(caller, query.workspace_id, deps.snapshot.current())
  const limit = Number(query.limit ?? DEFAULT_PAGE)
  const after = query.cursor === undefined ? undefined : gt(files.id, placeOf(query.cursor))
  const rows = await deps.database.db
    .select()
    .from(files)
    .where(and(eq(files.workspace_id, workspaceId), after))
    .orderBy(files.id)
    .limit(limit + 1)
  const page = rows.slice(0, limit)
  const last = page.at(-1)?.id ?? null
  const hasMore = rows.length > limit
  return {
    _shape: 'openrouter',
    data: page.map(fileView),
    first_id: page[0]?.id ?? null,
    last_id: last,
    has_more: hasMore,
    cursor: hasMore && last !== null ? cursorAt(last) : null,
  }
}

const cursorAt = (id: string): string => Buffer.from(id).toString('base64url')

function placeOf(cursor: string): string {
  const id = Buffer.from(cursor, 'base64url').toString()
  if (/^file_[0-9a-f]{32}$/.test(id) && cursorAt(id) === cursor) return id
  throw badRequest('must be the cursor of a page', 'query parameter cursor')
}

export async function findFile(
  deps: FileDeps,
  caller: Caller,
  id: string,
  workspace: string | undefined,
): Promise<FileRow> {
  const workspaceId = workspaceOf(caller, workspace, deps.snapshot.current())
  const row = await deps.files.find(id, workspaceId)
  if (row === undefined) throw notFound('There is no file with this id')
  return row
}

/** Deletes the row first: bytes that remain after a crash are removed at the next start. */
export async function deleteFile(
  deps: FileDeps,
  caller: Caller,
  actor: Actor,
  id: string,
  workspace: string | undefined,
): Promise<void> {
  const row = await findFile(deps, caller, id, workspace)
  await deleteRow(deps, actor, file, row)
  await deps.files.remove(row.id, row.workspace_id)
}
