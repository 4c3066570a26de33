import { and, desc, eq, inArray } from 'drizzle-orm'
import { notFound } from '../../core/errors.ts'
import type {
  FileSearch,
  FoundPassages,
  Passage,
  SearchableFile,
  WantedPassages,
} from '../../core/file-search.ts'
import type { Db } from '../../db/database.ts'
import { files } from '../../db/tables.ts'
import type { IndexFiles } from './file-index.ts'
import { type MeaningDeps, meaningOf } from './meaning.ts'
import type { QueryVector } from './task.ts'

/** Files of one search. */
const MOST_FILES = 1_000
/** A search waits so long for files that were not read before. */
const READING_MS = 15_000
/** Kinds that have no text. */
export const WITHOUT_TEXT = /^(?:image|audio|video|font)\//

interface SearchDeps extends Pick<MeaningDeps, 'onFailure'> {
  readonly db: Db
  readonly index: IndexFiles
  /** Where the bytes of a file are. */
  pathOf(id: string): string
}

/** The search of each workspace. */
export function createFileSearch(deps: SearchDeps): (workspaceId: string) => FileSearch {
  const { db, index } = deps
  /** Workspaces whose index holds no file that was deleted by an earlier process. */
  const cleared = new Set<string>()
  const meaning: MeaningDeps = { index, embedding: new Set(), onFailure: deps.onFailure }

  async function clear(workspaceId: string): Promise<void> {
    if (cleared.has(workspaceId)) return
    cleared.add(workspaceId)
    const rows = await db.select({ id: files.id }).from(files).where(eq(files.workspace_id, workspaceId))
    const ids = rows.map(({ id }) => id)
    await index.keep(workspaceId, ids)
  }

  return (workspaceId) => ({
    async check(ids, place) {
      const known = new Set((await filesOf(db, workspaceId, ids)).map(({ id }) => id))
      const missing = ids.find((id) => !known.has(id))
      if (missing !== undefined)
        throw notFound(`${place}: there is no file ${JSON.stringify(missing)} in this workspace`)
    },
    async find(wanted, signal) {
      await clear(workspaceId)
      return find(workspaceId, wanted, signal, deps, meaning)
    },
  })
}

async function filesOf(
  db: Db,
  workspaceId: string,
  ids: readonly string[] | undefined,
): Promise<SearchableFile[]> {
  const isOwn = eq(files.workspace_id, workspaceId)
  const rows = await db
    .select()
    .from(files)
    .where(ids === undefined ? isOwn : and(isOwn, inArray(files.id, [...ids])))
    .orderBy(desc(files.id))
    .limit(MOST_FILES + 1)
  return rows.map(({ id, filename, mime_type, size_bytes, created_at }) => ({
    id,
    filename,
    mime_type,
    size_bytes,
    created_at: Math.floor(created_at.getTime() / 1_000),
  }))
}

async function find(
  workspaceId: string,
  { query, fileIds, isWanted, most, embedder }: WantedPassages,
  signal: AbortSignal,
  deps: SearchDeps,
  meaningDeps: MeaningDeps,
): Promise<FoundPassages> {
  const rows = await filesOf(deps.db, workspaceId, fileIds)
  const isSearched = (file: SearchableFile): boolean => !WITHOUT_TEXT.test(file.mime_type) && isWanted(file)
  const searched = rows.slice(0, MOST_FILES).filter(isSearched)
  const byId = new Map(searched.map((file) => [file.id, file]))
  const ids = [...byId.keys()]
  const search = (meaning?: QueryVector) => deps.index.search(workspaceId, query, ids, most, signal, meaning)
  let answer = await search()
  if (answer.unknown.length > 0) {
    const unread = answer.unknown.flatMap((id) => byId.get(id) ?? [])
    await read(workspaceId, unread, signal, deps)
    if (embedder === undefined) answer = await search()
  }
  if (embedder !== undefined)
    answer = await search(await meaningOf(query, workspaceId, ids, embedder, signal, meaningDeps))
  const nameOf = (id: string): string => byId.get(id)?.filename ?? id
  const best = answer.found[0]?.rank ?? -1
  return {
    passages: answer.found.map(
      ({ fileId, text, rank }): Passage => ({
        fileId,
        filename: nameOf(fileId),
        text,
        score: rank / best,
      }),
    ),
    searched: searched.length,
    unreadable: answer.refused.map(({ fileId, reason }) => ({ filename: nameOf(fileId), reason })),
    pending: answer.unknown.length,
    isCut: rows.length > MOST_FILES,
  }
}

/** Reads these files, for as long as the bound allows. A file that takes longer is read for a later search. */
async function read(
  workspaceId: string,
  unread: readonly SearchableFile[],
  signal: AbortSignal,
  { index, pathOf }: SearchDeps,
): Promise<void> {
  const adding = unread.map(({ id, filename, mime_type }) =>
    index.add(workspaceId, { id, path: pathOf(id), filename, mediaType: mime_type }),
  )
  await Promise.race([
    Promise.all(adding),
    aborted(AbortSignal.any([signal, AbortSignal.timeout(READING_MS)])),
  ])
  signal.throwIfAborted()
}

const aborted = (signal: AbortSignal): Promise<void> => {
  const { promise, resolve } = Promise.withResolvers<void>()
  if (signal.aborted) resolve()
  signal.addEventListener('abort', () => resolve(), { once: true })
  return promise
}
