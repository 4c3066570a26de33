import { existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { isAbsolute, join, relative, sep } from 'node:path'
import { BODIES_FILE, DATABASE_FILE, openForReading } from '../db/database.ts'
import { appliedTags } from '../db/migrations.ts'
import { sealedWith } from '../db/seal.ts'
import { FILES_FOLDER } from '../files/store.ts'
import { version } from '../version.ts'
import {
  closeToOthers,
  copyOwn,
  examined,
  flushToDisk,
  isVacant,
  makeOwnFolder,
  requireRegular,
  wholeFolder,
} from './copy.ts'
import { CATALOG_FILE, MANIFEST_FILE, type Manifest, SECRET_FILE, writeManifest } from './manifest.ts'

export interface BackupOptions {
  /** Puts `secret.key` in. With both, everything can be decrypted. */
  readonly withSecretKey: boolean
  /** Milliseconds since 1970. */
  now(): number
}

/** The ledger is copied again if a file was uploaded and deleted while files were copied. */
const TRIES = 3

/**
 * Copies a data folder into a new data folder with a manifest. Works while the server runs, without the lock and without
 * blocking requests. Each database is copied as of one moment. Throws an error and leaves nothing behind on failure.
 */
export async function makeBackup(data: string, target: string, options: BackupOptions): Promise<Manifest> {
  refuse(data, target, options)
  return wholeFolder(target, async (draft) => {
    const uploaded = join(draft, FILES_FOLDER)
    makeOwnFolder(uploaded)
    // Files first: files uploaded during the copy of the ledger are added, and deleted ones removed.
    for (const name of namesIn(join(data, FILES_FOLDER))) copyUploaded(data, draft, name)
    // Bodies before the ledger, so that it has the generation of every stored response.
    if (existsSync(join(data, BODIES_FILE))) copyDatabase(data, draft, BODIES_FILE)
    const { schema, secretKeyId, lacking } = copyLedger(data, draft)
    if (existsSync(join(data, CATALOG_FILE)))
      copyOwn(join(data, CATALOG_FILE), join(draft, CATALOG_FILE), 'followed')
    if (options.withSecretKey) copyOwn(join(data, SECRET_FILE), join(draft, SECRET_FILE), 'followed')
    const manifest: Manifest = {
      version,
      madeAt: new Date(options.now()).toISOString(),
      schema,
      secretKeyId,
      hasSecretKey: options.withSecretKey,
      files: await Promise.all(
        pathsIn(draft).map((path) => {
          flushToDisk(join(draft, path))
          return examined(draft, path)
        }),
      ),
      lacking: lacking.map((id) => `${FILES_FOLDER}/${id}`),
    }
    writeFileSync(join(draft, MANIFEST_FILE), writeManifest(manifest), { mode: 0o600 })
    for (const path of [MANIFEST_FILE, FILES_FOLDER, '']) flushToDisk(join(draft, path))
    return manifest
  })
}

function refuse(data: string, target: string, { withSecretKey }: BackupOptions): void {
  if (!existsSync(join(data, DATABASE_FILE)))
    throw new Error(`There is no data folder at ${data}: name it with --data`)
  const way = relative(data, target)
  if (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
    throw new Error(`${target} is inside the data folder and would be lost with it: name a folder outside`)
  if (!isVacant(target)) throw new Error(`${target} already exists and is not empty: name a new folder`)
  if (withSecretKey && !existsSync(join(data, SECRET_FILE)))
    throw new Error(`There is no ${SECRET_FILE} in ${data}: the secret key comes from SLUICE_SECRET_KEY`)
}

const namesIn = (folder: string): string[] =>
  existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('file_')) : []

/** False: it is not there, or went this moment. */
function copyUploaded(data: string, draft: string, id: string): boolean {
  try {
    copyOwn(join(data, FILES_FOLDER, id), join(draft, FILES_FOLDER, id), 'refused')
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return false
    throw error
  }
}

/** A complete and compact copy as of one moment; writers continue meanwhile. */
function copyDatabase(data: string, draft: string, name: string): void {
  requireRegular(join(data, name))
  const source = openForReading(join(data, name))
  const copy = join(draft, name)
  try {
    // The copy of a file that was made before room could be given back can do so.
    const mode = source.file.query<{ auto_vacuum: number }, []>('PRAGMA auto_vacuum').get()
    if (mode?.auto_vacuum === 0) source.file.run('PRAGMA auto_vacuum = INCREMENTAL')
    source.file.run('VACUUM INTO ?', [copy])
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause
    throw new Error(`${join(data, name)} could not be copied to ${copy}: ${why}`, { cause })
  } finally {
    source.close()
  }
  closeToOthers(copy)
}

interface CopiedLedger {
  readonly schema: Readonly<Record<string, string>>
  readonly secretKeyId: string | null
  readonly lacking: readonly string[]
}

/** The ledger, and exactly the files that it names. */
function copyLedger(data: string, draft: string): CopiedLedger {
  for (let tries = 1; ; tries++) {
    copyDatabase(data, draft, DATABASE_FILE)
    const { ids, ...known } = lookInto(draft)
    const copied = new Set(namesIn(join(draft, FILES_FOLDER)))
    const lacking = ids.filter((id) => !copied.has(id) && !copyUploaded(data, draft, id))
    if (lacking.length > 0 && tries < TRIES) {
      rmSync(join(draft, DATABASE_FILE))
      continue
    }
    const named = new Set(ids)
    for (const name of copied) if (!named.has(name)) rmSync(join(draft, FILES_FOLDER, name))
    return { ...known, lacking }
  }
}

function lookInto(draft: string): Omit<CopiedLedger, 'lacking'> & { ids: string[] } {
  const schema: Record<string, string> = {}
  const read = <T>(name: string, look: (of: ReturnType<typeof openForReading>) => T): T => {
    const database = openForReading(join(draft, name))
    try {
      const tag = appliedTags(database.file).at(-1)
      if (tag === undefined) throw new Error(`${name} of the data folder is not a Sluice database`)
      schema[name] = tag
      return look(database)
    } finally {
      database.close()
    }
  }
  if (existsSync(join(draft, BODIES_FILE))) read(BODIES_FILE, () => null)
  return read(DATABASE_FILE, (database) => {
    const rows = database.file.query<{ id: string }, []>('SELECT id FROM files').all()
    return { schema, secretKeyId: sealedWith(database), ids: rows.map(({ id }) => id) }
  })
}

const pathsIn = (draft: string): string[] => [
  ...[DATABASE_FILE, BODIES_FILE, CATALOG_FILE, SECRET_FILE].filter((name) => existsSync(join(draft, name))),
  ...namesIn(join(draft, FILES_FOLDER))
    .sort()
    .map((name) => `${FILES_FOLDER}/${name}`),
]
