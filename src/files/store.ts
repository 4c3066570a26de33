import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { and, eq, sql } from 'drizzle-orm'
import { GatewayError } from '../core/errors.ts'
import type { FileSearch, SearchStatus } from '../core/file-search.ts'
import { atomically, type Database, type Db, mustBeAtMost, type Write } from '../db/database.ts'
import { files } from '../db/tables.ts'
import { createIndexFiles, INDEX_FOLDER } from './search/file-index.ts'
import { createFileSearch, WITHOUT_TEXT } from './search/file-search.ts'
import { receiveUpload } from './upload.ts'

export type FileRow = typeof files.$inferSelect

/** An uploaded file before it is registered. */
interface Received {
  readonly filename: string
  readonly mimeType: string
  readonly sizeBytes: number
  readonly sha256: string
  /** Gives the bytes their place under this id: to be called once the row is about to be written. */
  keep(id: string): Promise<void>
  discard(): Promise<void>
}

/** The bytes of uploaded files, in a folder of their own, one file under each id. */
export interface FileStore {
  /** The largest sum of sizes that one workspace may keep, in bytes. */
  readonly quotaBytes: number
  receive(request: Request, limitBytes: number): Promise<Received>
  find(id: string, workspaceId: string): Promise<FileRow | undefined>
  /** Rejects with a `GatewayError` 413 if a file of this size would exceed the quota. */
  refuseBeyondQuota(workspaceId: string, sizeBytes: number): Promise<void>
  /** The same check inside a transaction. */
  mustFit(tx: Db, workspaceId: string, sizeBytes: number): Write
  open(id: string): Bun.BunFile
  /** Deletes the bytes, and what the search knows of them. */
  remove(id: string, workspaceId: string): Promise<void>
  /** How far the search is with a file. Null: the index does not answer. */
  searchStatus(file: FileRow): Promise<SearchStatus | null>
  /** The search in the files of a workspace. */
  searchOf(workspaceId: string): FileSearch
  close(): void
}

/** Of the data folder. */
export const FILES_FOLDER = 'files'
const PART = '.part'

/** Creates the folder if it is missing, and removes leftovers of a crash: truncated uploads and files without a row. */
export async function openFileStore(
  folder: string,
  database: Database,
  quotaBytes: number,
  onSearchFailure: (error: unknown, workspaceId: string) => void,
): Promise<FileStore> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { db } = database
  await clear(folder, db)
  const pathOf = (id: string): string => join(folder, id)
  const index = createIndexFiles(join(dirname(folder), INDEX_FOLDER))
  const mustFit = (tx: Db, workspaceId: string, sizeBytes: number): Write =>
    mustBeAtMost(tx, usedBy(workspaceId), quotaBytes - sizeBytes, (used) =>
      beyondQuota(used, quotaBytes, sizeBytes),
    )

  return {
    quotaBytes,
    async receive(request, limitBytes) {
      const part = pathOf(`${crypto.randomUUID()}${PART}`)
      const upload = await receiveUpload(request, part, limitBytes)
      return {
        ...upload,
        mimeType: await mediaTypeOf(part, upload.filename),
        keep: (id) => rename(part, pathOf(id)),
        discard: () => rm(part, { force: true }),
      }
    },
    async find(id, workspaceId) {
      const isOwn = and(eq(files.id, id), eq(files.workspace_id, workspaceId))
      return (await db.select().from(files).where(isOwn))[0]
    },
    refuseBeyondQuota: (workspaceId, sizeBytes) =>
      atomically(database, (tx) => [mustFit(tx, workspaceId, sizeBytes)]),
    mustFit,
    open: (id) => Bun.file(pathOf(id)),
    async remove(id, workspaceId) {
      await rm(pathOf(id), { force: true })
      // A file that cannot be removed here is removed with the first search after the next start.
      await index.remove(workspaceId, id).catch(() => undefined)
    },
    async searchStatus({ id, workspace_id, mime_type }) {
      if (WITHOUT_TEXT.test(mime_type)) return { status: 'refused', reason: 'it has no text' }
      return index.statusOf(workspace_id, id).catch(() => null)
    },
    searchOf: createFileSearch({ db, index, pathOf, onFailure: onSearchFailure }),
    close: index.close,
  }
}

const usedBy = (workspaceId: string) =>
  sql`SELECT coalesce(sum(${files.size_bytes}), 0) FROM ${files} WHERE ${files.workspace_id} = ${workspaceId}`

const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`

const beyondQuota = (used: number, quotaBytes: number, sizeBytes: number): GatewayError =>
  new GatewayError(
    413,
    `The workspace keeps ${megabytes(used)} of files and may keep ${megabytes(quotaBytes)}: this one has ${megabytes(sizeBytes)}. Delete some first`,
  )

async function clear(folder: string, db: Db): Promise<void> {
  const known = new Set((await db.select({ id: files.id }).from(files)).map(({ id }) => id))
  for (const name of readdirSync(folder)) {
    if (name.endsWith(PART) || (name.startsWith('file_') && !known.has(name))) {
      rmSync(join(folder, name), { force: true })
    }
  }
}

/** Text has no signature: its type follows from its name, and it must be UTF-8. */
const TEXT_TYPES: Readonly<Record<string, string>> = {
  json: 'application/json',
  jsonl: 'application/x-ndjson',
  ndjson: 'application/x-ndjson',
  csv: 'text/csv',
  md: 'text/markdown',
  markdown: 'text/markdown',
  html: 'text/html',
  xml: 'application/xml',
}
const SAMPLE_BYTES = 64 * 1024

/** The media type of a file, by its content; `application/octet-stream` if unknown. A name alone never makes it an image. */
async function mediaTypeOf(path: string, filename: string): Promise<string> {
  const { fileTypeFromBlob } = await import('file-type')
  // By its path the library would load a package at run time (file-type 22), which the binary does not have.
  const known = await fileTypeFromBlob(Bun.file(path))
  if (known !== undefined) return known.mime
  if (!(await isText(path))) return 'application/octet-stream'
  const extension = filename.split('.').at(-1)?.toLowerCase() ?? ''
  return Object.hasOwn(TEXT_TYPES, extension) ? (TEXT_TYPES[extension] ?? 'text/plain') : 'text/plain'
}

/** UTF-8 without control characters, as far as its beginning shows. */
async function isText(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(SAMPLE_BYTES), 0, SAMPLE_BYTES, 0)
    // A character that the sample cuts is not wrong.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(buffer.subarray(0, bytesRead), {
      stream: true,
    })
    return !/[\x00-\x08\x0e-\x1a\x1c-\x1f]/.test(text)
  } catch (error) {
    if (error instanceof TypeError) return false
    throw error
  } finally {
    await file.close()
  }
}
