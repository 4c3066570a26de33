import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { isObject } from '../core/json.ts'
import { type Catalog, openCatalog } from './catalog.ts'
import { packed, unpacked } from './packed.ts'
import seedPath from './seed/catalog.json.gz' with { type: 'file' }
import { isSeed, type Seed } from './seed.ts'

/** A catalogue that was made from newer facts than those of the program. */
export interface RefreshedCatalog {
  readonly seed: Seed
  /** The source of the metadata, for display. */
  readonly source: string
  /** Milliseconds since 1970. */
  readonly refreshedAt: number
  /** Ids of earlier catalogues: still known names, so that settings may go on using them. */
  readonly retired: readonly string[]
}

export interface CatalogInUse {
  readonly seed: Seed
  readonly catalog: Catalog
  /** Null: the program's own. */
  readonly refreshed: RefreshedCatalog | null
}

export interface CatalogStore {
  /** What lists and routes are made from now. */
  current(): CatalogInUse
  /** The program's own catalogue. */
  builtIn(): Seed
  /** Keeps another one in the data folder and uses it from now on; null: the program's own again. */
  replace(refreshed: RefreshedCatalog | null): CatalogInUse
}

const FILE = 'catalog.json.gz'

/**
 * The catalogue of a data folder: that of the last refresh, unless it cannot be read or the program has a newer one
 * (`onUnusable` gets the reason). Fetches and creates nothing.
 */
export function openCatalogStore(folder: string, onUnusable: (why: string) => void): CatalogStore {
  const path = join(folder, FILE)
  const own = loadSeed()
  let inUse = usedOf(own, usable(path, own, onUnusable))
  return {
    current: () => inUse,
    builtIn: () => own,
    replace(refreshed) {
      if (refreshed === null) rmSync(path, { force: true })
      else write(path, refreshed, own)
      inUse = usedOf(own, refreshed)
      return inUse
    },
  }
}

/** For what runs without a data folder. */
export function builtInStore(): CatalogStore {
  const own = loadSeed()
  let inUse = usedOf(own, null)
  return {
    current: () => inUse,
    builtIn: () => own,
    replace(refreshed) {
      inUse = usedOf(own, refreshed)
      return inUse
    },
  }
}

const usedOf = (own: Seed, refreshed: RefreshedCatalog | null): CatalogInUse => ({
  seed: refreshed?.seed ?? own,
  catalog: openCatalog(refreshed?.seed ?? own, refreshed?.retired),
  refreshed,
})

function usable(path: string, own: Seed, onUnusable: (why: string) => void): RefreshedCatalog | null {
  if (!existsSync(path)) return null
  try {
    const file = unpacked(path)
    const refreshed = readRefreshed(file)
    if (refreshed === null) onUnusable(`${path} is not a catalogue of this version`)
    else if (isOutdated(file, refreshed, own)) {
      onUnusable(
        `${path} has facts of ${refreshed.seed.facts_at}, older than the program's own of ${own.facts_at}`,
      )
      return null
    }
    return refreshed
  } catch (error) {
    onUnusable(`${path} cannot be read: ${error instanceof Error ? error.message : error}`)
    return null
  }
}

/** True if the program has newer metadata than the refresh. */
const isOutdated = (file: unknown, { seed }: RefreshedCatalog, own: Seed): boolean =>
  seed.facts_at < own.facts_at && isObject(file) && file['program_facts_at'] !== own.facts_at

function readRefreshed(file: unknown): RefreshedCatalog | null {
  if (!isObject(file) || !isSeed(file['seed'])) return null
  const { seed, source, refreshed_at: refreshedAt, retired } = file
  if (!isSeed(seed) || typeof source !== 'string' || typeof refreshedAt !== 'number') return null
  const ids = Array.isArray(retired) ? retired.filter((id) => typeof id === 'string') : []
  return { seed, source, refreshedAt, retired: ids }
}

/** Atomic: a crash in the middle leaves the former file. */
function write(path: string, { seed, source, refreshedAt, retired }: RefreshedCatalog, own: Seed): void {
  const draft = `${path}.new`
  writeFileSync(
    draft,
    packed({ source, refreshed_at: refreshedAt, program_facts_at: own.facts_at, retired, seed }, 1),
    { mode: 0o600 },
  )
  renameSync(draft, path)
}

/** Reads the built-in catalogue: about 10 ms and 4 MB on each call, so keep the result. */
function loadSeed(): Seed {
  const seed = unpacked(seedPath)
  if (!isSeed(seed)) throw new Error(`${seedPath} is not a catalogue of this version`)
  return seed
}

export const loadCatalog = (): Catalog => openCatalog(loadSeed())
