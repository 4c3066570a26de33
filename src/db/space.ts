import { statSync } from 'node:fs'
import type { Database } from './database.ts'

/** The size of a file, 0 if it is absent. */
export const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0

const pragma = ({ file }: Database, name: 'page_count' | 'page_size' | 'freelist_count'): number =>
  file.query<Record<string, number>, []>(`PRAGMA ${name}`).get()?.[name] ?? 0

export const pagesOf = (database: Database): number => pragma(database, 'page_count')
/** Pages without data, which new rows reuse until they are released. */
export const freePagesOf = (database: Database): number => pragma(database, 'freelist_count')

/** The size of the file without its free pages. */
export const usedBytes = (database: Database): number =>
  (pagesOf(database) - freePagesOf(database)) * pragma(database, 'page_size')

/**
 * Shortens the file by at most this many free pages, and returns how many are still free. Does nothing in a file without
 * a map of its pages, which files of older versions lack.
 */
export function releasePages(database: Database, most: number): number {
  database.file.run(`PRAGMA incremental_vacuum(${most})`)
  return freePagesOf(database)
}
