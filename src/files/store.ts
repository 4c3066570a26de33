import { mkdirSync, readdirSync, rmSync } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { and, eq, sql } from 'drizzle-orm'
import { GatewayError } from '../core/errors.ts'
import { atomically, type Database, type Db, mustBeAtMost, type Write } from '../db/database.ts'
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
  find(id: string, workspaceId: string): Promise<FileRow | undefined>
  /** Rejects with a `GatewayError` 413 if a file of this size would exceed the quota. */
  refuseBeyondQuota(workspaceId: string, sizeBytes: number): Promise<void>
  /** The same check inside a transaction. */
  mustFit(tx: Db, workspaceId: string, sizeBytes: number): Write
  open(id: string): Bun.BunFile
  remove(id: string): Promise<void>
}

/** Of the data folder. */
export const FILES_FOLDER = 'files'
const PART = '.part'

/** Creates the folder if it is missing, and removes leftovers of a crash: truncated uploads and files without a row. */
export async function openFileStore(
  folder: string,
  database: Database,
  quotaBytes: number,
): Promise<FileStore> {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const { db } = database
  await clear(folder, db)
  const pathOf = (id: string): string => join(folder, id)
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
    remove: (id) => rm(pathOf(id), { force: true }),
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
