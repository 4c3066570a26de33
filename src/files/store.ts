import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { and, eq, sum } from 'drizzle-orm'
import { GatewayError } from '../core/errors.ts'
import type { Database } from '../db/database.ts'
import { files } from '../db/tables.ts'
import { mediaTypeOf } from './media-type.ts'
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
  find(id: string, workspaceId: string): FileRow | undefined
  /** Throws a `GatewayError` 413 where so much more would be over the quota. */
  refuseBeyondQuota(workspaceId: string, sizeBytes: number): void
  open(id: string): Bun.BunFile
  remove(id: string): Promise<void>
}

/** Of the data folder. */
export const FILES_FOLDER = 'files'
const PART = '.part'

/** Creates the folder if it is missing, and removes leftovers of a crash: truncated uploads and files without a row. */
export function createFileStore(folder: string, database: Database, quotaBytes: number): FileStore {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  clear(folder, database)
  const pathOf = (id: string): string => join(folder, id)
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
    find: (id, workspaceId) =>
      database.sync
        .select()
        .from(files)
        .where(and(eq(files.id, id), eq(files.workspace_id, workspaceId)))
        .get(),
    refuseBeyondQuota(workspaceId, sizeBytes) {
      const used = Number(
        database.sync
          .select({ bytes: sum(files.size_bytes) })
          .from(files)
          .where(eq(files.workspace_id, workspaceId))
          .get()?.bytes ?? 0,
      )
      if (used + sizeBytes <= quotaBytes) return
      const megabytes = (bytes: number): string => `${(bytes / 1_000_000).toFixed(1)} MB`
      throw new GatewayError(
        413,
        `The workspace keeps ${megabytes(used)} of files and may keep ${megabytes(quotaBytes)}: this one has ${megabytes(sizeBytes)}. Delete some first`,
      )
    },
    open: (id) => Bun.file(pathOf(id)),
    remove: (id) => rm(pathOf(id), { force: true }),
  }
}

function clear(folder: string, { sync }: Database): void {
  const known = new Set(
    sync
      .select({ id: files.id })
      .from(files)
      .all()
      .map(({ id }) => id),
  )
  for (const name of readdirSync(folder)) {
    if (name.endsWith(PART) || (name.startsWith('file_') && !known.has(name))) {
      rmSync(join(folder, name), { force: true })
    }
  }
}
