import { join } from 'node:path'
import { isObject } from '../core/json.ts'
import { BODIES_FILE, DATABASE_FILE } from '../db/database.ts'
import { FILES_FOLDER } from '../files/store.ts'
import { type BackedUpFile, readRegular } from './copy.ts'

export const MANIFEST_FILE = 'manifest.json'
export const SECRET_FILE = 'secret.key'
export const CATALOG_FILE = 'catalog.json.gz'
const FORMAT = 1
/** Of a manifest: some hundred thousand files. */
const MOST_BYTES = 64 * 1024 * 1024

/** The manifest of a backup: `manifest.json`. */
export interface Manifest {
  /** Of the program that made it. */
  readonly version: string
  readonly madeAt: string
  /** The newest migration that each database has seen. */
  readonly schema: Readonly<Record<string, string>>
  /** Id of the encryption key, which does not reveal the key; null: nothing is encrypted. */
  readonly secretKeyId: string | null
  readonly hasSecretKey: boolean
  readonly files: readonly BackedUpFile[]
  /** Uploaded files that the ledger names and that were not there. */
  readonly lacking: readonly string[]
}

export const writeManifest = (manifest: Manifest): string =>
  `${JSON.stringify(
    {
      sluice_backup: FORMAT,
      version: manifest.version,
      made_at: manifest.madeAt,
      schema: manifest.schema,
      secret_key_id: manifest.secretKeyId,
      has_secret_key: manifest.hasSecretKey,
      lacking: manifest.lacking,
      files: manifest.files,
    },
    null,
    2,
  )}\n`

/** Reads the manifest of a backup. Throws an error if this version cannot restore it. */
export function readManifest(folder: string): Manifest {
  const path = join(folder, MANIFEST_FILE)
  let written: unknown
  try {
    written = JSON.parse(readRegular(path, MOST_BYTES))
  } catch (cause) {
    throw new Error(
      `${folder} is not a backup: its ${MANIFEST_FILE} is missing or cannot be read as a file`,
      {
        cause,
      },
    )
  }
  if (!isObject(written) || written['sluice_backup'] === undefined)
    throw new Error(`${path} is not the manifest of a backup of Sluice`)
  if (written['sluice_backup'] !== FORMAT)
    throw new Error(
      `${path} was written by a newer Sluice (format ${written['sluice_backup']}): use that one`,
    )
  const manifest = manifestOf(written)
  if (manifest === null) throw new Error(`${path} is damaged: restore another backup`)
  return manifest
}

function manifestOf(written: Readonly<Record<string, unknown>>): Manifest | null {
  const { version, made_at: madeAt, schema, secret_key_id: keyId, files, lacking } = written
  if (typeof version !== 'string' || typeof madeAt !== 'string' || !isObject(schema)) return null
  if (!Array.isArray(files) || !files.every(isBackedUp) || !Array.isArray(lacking)) return null
  const tags = Object.entries(schema).flatMap(([name, tag]) => (typeof tag === 'string' ? [[name, tag]] : []))
  if (!files.some(({ path }) => path === DATABASE_FILE)) return null
  if (new Set(files.map(({ path }) => path)).size !== files.length) return null
  return {
    version,
    madeAt,
    schema: Object.fromEntries(tags),
    secretKeyId: typeof keyId === 'string' ? keyId : null,
    hasSecretKey: files.some(({ path }) => path === SECRET_FILE),
    files,
    lacking: lacking.filter((path) => typeof path === 'string'),
  }
}

const TOP_LEVEL = [DATABASE_FILE, BODIES_FILE, CATALOG_FILE, SECRET_FILE]
const UPLOADED = new RegExp(`^${FILES_FOLDER}/file_[0-9A-Za-z]{1,64}$`)

/** Only names that a data folder has, so that a forged manifest writes nowhere else. */
function isBackedUp(file: unknown): file is BackedUpFile {
  if (!isObject(file)) return false
  const { path, bytes, sha256 } = file
  if (typeof path !== 'string' || !(TOP_LEVEL.includes(path) || UPLOADED.test(path))) return false
  return Number.isSafeInteger(bytes) && typeof sha256 === 'string' && /^[0-9a-f]{64}$/.test(sha256)
}
