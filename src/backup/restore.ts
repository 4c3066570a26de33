import { existsSync, lstatSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { BODIES_FILE, DATABASE_FILE, openForReading } from '../db/database.ts'
import { lockFolder } from '../db/lock.ts'
import { appliedTags, BODIES_MIGRATIONS, newestTag } from '../db/migrations.ts'
import { isSealedWith, parseSecretKey, sealedWith } from '../db/seal.ts'
import { FILES_FOLDER } from '../files/store.ts'
import { copyOwn, examined, flushToDisk, isVacant, makeOwnFolder, wholeFolder } from './copy.ts'
import { type Manifest, readManifest, SECRET_FILE } from './manifest.ts'

export interface RestoreOptions {
  /** The secret key that the server will start with; undefined: the folder's own file. */
  readonly secretKey:
    | { readonly key: Uint8Array; readonly from: string; readonly isKept: boolean }
    | undefined
}

export interface Restored {
  readonly manifest: Manifest
  /** `missing`: it must be put in place before a start. */
  readonly secretKey: 'fits' | 'missing' | 'none needed'
  /** The next start migrates it; until then `verify` knows its tables less well than the older program. */
  readonly isOlder: boolean
}

/**
 * Makes a data folder from a backup: all of it, with every hash compared, or nothing. Throws a sentence for a backup
 * that is changed, incomplete or newer, a key that does not fit, and a folder that holds something or is served.
 */
export async function restoreBackup(
  backup: string,
  data: string,
  { secretKey }: RestoreOptions,
): Promise<Restored> {
  const manifest = readManifest(backup)
  refuseLinkedFolder(join(backup, FILES_FOLDER))
  refuseTaken(data)
  return wholeFolder(data, async (draft) => {
    makeOwnFolder(join(draft, FILES_FOLDER))
    for (const file of manifest.files) {
      const from = join(backup, file.path)
      if (lstatSync(from, { throwIfNoEntry: false }) === undefined)
        throw new Error(`The backup lacks ${file.path}: restore another`)
      copyOwn(from, join(draft, file.path), 'refused')
      const { bytes, sha256 } = await examined(draft, file.path)
      if (bytes !== file.bytes || sha256 !== file.sha256)
        throw new Error(
          `${join(backup, file.path)} differs from the backed-up file: it was changed or is damaged`,
        )
      flushToDisk(join(draft, file.path))
    }
    const isOlder = isOlderSchema(draft)
    if (secretKey?.isKept === true) keepKey(draft, secretKey.key)
    const outcome = keyOutcome(draft, manifest, secretKey)
    for (const path of [FILES_FOLDER, '']) flushToDisk(join(draft, path))
    return { manifest, secretKey: outcome, isOlder }
  })
}

/** The names in it would lead to wherever the link does. */
function refuseLinkedFolder(path: string): void {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found !== undefined && !found.isDirectory())
    throw new Error(`${path} is not a folder but a link or a file: restore another backup`)
}

function refuseTaken(data: string): void {
  if (isVacant(data)) return
  // Names the server that has it, if one has.
  if (existsSync(join(data, 'lock.db'))) lockFolder(data)()
  throw new Error(
    `${data} is not empty: name a new folder with --data, or move this one away. Nothing is overwritten`,
  )
}

/** Throws for a schema that this version does not know. */
function isOlderSchema(draft: string): boolean {
  const newest = [
    [DATABASE_FILE, newestTag()],
    [BODIES_FILE, newestTag(BODIES_MIGRATIONS)],
  ] as const
  let isOlder = false
  for (const [name, known] of newest) {
    if (!existsSync(join(draft, name))) continue
    const database = openForReading(join(draft, name))
    const tag = appliedTags(database.file).at(-1) ?? ''
    database.close()
    if (tag > known)
      throw new Error(
        `${name} of the backup was written by a newer Sluice (schema ${tag}): restore it with that version`,
      )
    if (tag < known) isOlder = true
  }
  return isOlder
}

function keepKey(draft: string, key: Uint8Array): void {
  const path = join(draft, SECRET_FILE)
  writeFileSync(path, `${Buffer.from(key).toString('base64')}\n`, { mode: 0o600 })
  flushToDisk(path)
}

function keyOutcome(
  draft: string,
  { secretKeyId }: Manifest,
  given: RestoreOptions['secretKey'],
): Restored['secretKey'] {
  const database = openForReading(join(draft, DATABASE_FILE))
  try {
    if (sealedWith(database) === null) return 'none needed'
    const path = join(draft, SECRET_FILE)
    const own = existsSync(path) ? parseSecretKey(readFileSync(path, 'utf8'), SECRET_FILE) : undefined
    const key = given?.key ?? own
    if (key === undefined) return 'missing'
    if (isSealedWith(database, key)) return 'fits'
    throw new Error(
      `${given?.from ?? `The ${SECRET_FILE} of the backup`} is not the key with which the backup was sealed ` +
        `(that one has the id ${secretKeyId}): nothing was restored`,
    )
  } finally {
    database.close()
  }
}
