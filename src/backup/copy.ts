import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'

const OWN_FILE = 0o600
const OWN_FOLDER = 0o700

/** A new folder that only its owner enters. */
export const makeOwnFolder = (path: string): void =>
  void mkdirSync(path, { recursive: true, mode: OWN_FOLDER })

/** Links of a data folder are the operator's; links in a backup, which may come from elsewhere, are never followed. */
export type Links = 'followed' | 'refused'

/**
 * Copies one regular file to a new file that only its owner can read. Throws for anything else:
 * a link would lead out of the folder, and a pipe would never end.
 */
export function copyOwn(from: string, to: string, links: Links): void {
  const source = openRegular(from, links)
  try {
    const target = openSync(to, 'wx', OWN_FILE)
    try {
      const piece = new Uint8Array(PIECE_BYTES)
      for (let read = readSync(source, piece); read > 0; read = readSync(source, piece))
        for (let at = 0; at < read; ) at += writeSync(target, piece, at, read - at)
    } finally {
      closeSync(target)
    }
  } finally {
    closeSync(source)
  }
}

const PIECE_BYTES = 1024 * 1024

/** Text of a regular file that is not a link. Throws a sentence for anything else, and beyond `mostBytes`. */
export function readRegular(path: string, mostBytes: number): string {
  const file = openRegular(path, 'refused')
  try {
    if (fstatSync(file).size > mostBytes) throw new Error(`${path} is larger than ${mostBytes} bytes`)
    return readFileSync(file, 'utf8')
  } finally {
    closeSync(file)
  }
}

/** Opens a file for reading. It is looked at once it is open, so that nothing can take its place in between. */
function openRegular(path: string, links: Links): number {
  if (links === 'refused' && lstatSync(path).isSymbolicLink()) throw notRegular(path)
  // Windows has neither flag. Without O_NONBLOCK opening a pipe would wait for its other end.
  const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants
  const file = openSync(path, O_RDONLY | O_NONBLOCK | (links === 'refused' ? O_NOFOLLOW : 0))
  if (fstatSync(file).isFile()) return file
  closeSync(file)
  throw notRegular(path)
}

/** Throws a sentence unless this is a regular file, or a link to one. */
export function requireRegular(path: string): void {
  if (!statSync(path).isFile()) throw notRegular(path)
}

const notRegular = (path: string): Error =>
  new Error(`${path} is not a regular file (a link, a pipe, a folder or a device): put the file itself there`)

export const closeToOthers = (path: string): void => chmodSync(path, OWN_FILE)

export interface BackedUpFile {
  /** Within the backup, with `/`. */
  readonly path: string
  readonly bytes: number
  /** In hex. */
  readonly sha256: string
}

/** Size and SHA-256 of a file, read in pieces. */
export async function examined(folder: string, path: string): Promise<BackedUpFile> {
  const hasher = new Bun.CryptoHasher('sha256')
  let bytes = 0
  for await (const piece of Bun.file(join(folder, path)).stream()) {
    hasher.update(piece)
    bytes += piece.byteLength
  }
  return { path, bytes, sha256: hasher.digest('hex') }
}

/** Waits until the disk has a file, or (where the system can do that) the names in a folder. */
export function flushToDisk(path: string): void {
  const isFolder = statSync(path).isDirectory()
  if (isFolder && process.platform === 'win32') return
  const file = openSync(path, isFolder ? 'r' : 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}

/** True for a missing path (also below a file) and for an empty folder. */
export function isVacant(path: string): boolean {
  try {
    return readdirSync(path).length === 0
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return true
    if (error instanceof Error && 'code' in error && error.code === 'ENOTDIR') return !existsSync(path)
    throw error
  }
}

/**
 * Fills a temporary folder next to `target` and renames it once it is complete, so a partial one never exists. A failure
 * leaves nothing behind.
 */
export async function wholeFolder<T>(target: string, fill: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${target}.part-${process.pid}`
  try {
    rmSync(draft, { recursive: true, force: true })
    mkdirSync(dirname(target), { recursive: true })
    // Only the folder of this call, not one that was created since.
    mkdirSync(draft, { mode: OWN_FOLDER })
  } catch (cause) {
    const why = cause instanceof Error && 'code' in cause ? cause.code : cause
    throw new Error(`${target} cannot be made (${why}): name another folder`, { cause })
  }
  try {
    const filled = await fill(draft)
    if (existsSync(target)) rmdirSync(target)
    renameSync(draft, target)
    flushToDisk(dirname(target))
    return filled
  } catch (error) {
    rmSync(draft, { recursive: true, force: true })
    throw error
  }
}
