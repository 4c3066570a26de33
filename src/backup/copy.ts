import {
  chmodSync,
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { BackedUpFile } from './manifest.ts'

const OWN_FILE = 0o600
const OWN_FOLDER = 0o700

/** A new folder that only its owner enters. */
export const makeOwnFolder = (path: string): void =>
  void mkdirSync(path, { recursive: true, mode: OWN_FOLDER })

/** Copies one file for its owner alone; shares the blocks where the disk can do that. */
export function copyOwn(from: string, to: string): void {
  copyFileSync(from, to, constants.COPYFILE_FICLONE)
  chmodSync(to, OWN_FILE)
}

export const closeToOthers = (path: string): void => chmodSync(path, OWN_FILE)

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

/** True for what is not there (below a file too), and for a folder with nothing in it. */
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
 * Fills a folder beside `target` and gives it its name once it is whole: at no moment is there half of one. What fails
 * leaves nothing.
 */
export async function wholeFolder<T>(target: string, fill: (draft: string) => Promise<T>): Promise<T> {
  const draft = `${target}.part-${process.pid}`
  try {
    rmSync(draft, { recursive: true, force: true })
    mkdirSync(dirname(target), { recursive: true })
    makeOwnFolder(draft)
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
