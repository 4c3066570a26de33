import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { SearchStatus } from '../../core/file-search.ts'
import { asCount, asText, fieldsOf, objectsIn, textOf, textsIn } from '../../core/json.ts'
import type { Embedded } from '../../db/file-vectors.ts'
import { TaskMemory } from '../../threads/memory-watch.ts'
import { createPool, openWorker, type Pool, TaskTimeout } from '../../threads/pool.ts'
import type { IndexAnswer, IndexTask, QueryVector } from './task.ts'

/** The indexes of all workspaces, each in a file of its own, made again when it is lost. All SQL runs in threads. */
export interface IndexFiles {
  search(
    workspaceId: string,
    query: string,
    ids: readonly string[],
    most: number,
    signal: AbortSignal,
    meaning?: QueryVector,
  ): Promise<IndexAnswer>
  /** Passages of these files without a vector of this model. */
  lacking(workspaceId: string, model: string, ids: readonly string[], most: number): Promise<IndexAnswer>
  embed(workspaceId: string, model: string, vectors: readonly Embedded[]): Promise<IndexAnswer>
  /** Reads a file; a file that is being read is not read twice. Never rejects: a failure is tried again with the next search. */
  add(workspaceId: string, file: IndexedFile): Promise<void>
  /** How far the index is with a file. Rejects if the index does not answer soon. */
  statusOf(workspaceId: string, id: string): Promise<SearchStatus>
  /** Forgets a file that was deleted. */
  remove(workspaceId: string, id: string): Promise<void>
  /** Forgets all files of a workspace but these. */
  keep(workspaceId: string, ids: readonly string[]): Promise<void>
  close(): void
}

interface IndexedFile {
  readonly id: string
  readonly path: string
  readonly filename: string
  readonly mediaType: string
}

/** Of the data folder. */
export const INDEX_FOLDER = 'file-index'
/** Most files take milliseconds. One that takes longer moves to a thread of its own kind, where it starts again. */
const QUICK_MS = 5_000
const SLOW_MS = 30_000
/** Files have up to 100 MB. */
const MOST_MEMORY = 1_024 * 1024 * 1024
const LONGEST_SEARCH_MS = 10_000
const STATUS_MS = 2_000
const MOST_WAITING = 10_000
const MOST_WAITING_OF_WORKSPACE = 1_000
/** So that a search which takes long holds up its own workspace alone. */
const MOST_SEARCHES = 2

export function createIndexFiles(folder: string, quickMs = QUICK_MS): IndexFiles {
  const pathOf = (workspaceId: string): string => join(folder, `${workspaceId}.db`)
  const searching = indexPool(LONGEST_SEARCH_MS, MOST_SEARCHES)
  const always = new AbortController().signal
  const run: Run = async (pool, task, signal = always) => {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    // Workspaces, each with an index of its own, take turns.
    const answer = await pool.run(task, signal, task.index)
    if (answer.error !== null) throw new Error(`the index of files failed: ${answer.error}`)
    return answer
  }
  const reading = createReading(run, searching, quickMs)

  return {
    search: (workspaceId, query, ids, most, signal, meaning) =>
      run(
        searching,
        { do: 'search', index: pathOf(workspaceId), query, ids, most, ...(meaning && { meaning }) },
        signal,
      ),
    lacking: (workspaceId, model, ids, most) =>
      run(searching, { do: 'lacking', index: pathOf(workspaceId), model, ids, most }),
    embed: (workspaceId, model, vectors) =>
      run(searching, { do: 'embed', index: pathOf(workspaceId), model, vectors }),
    add: (workspaceId, file) => reading.add(pathOf(workspaceId), file),
    async statusOf(workspaceId, id) {
      if (reading.has(id)) return { status: 'reading' }
      const index = pathOf(workspaceId)
      if (!(await Bun.file(index).exists())) return { status: 'unread' }
      const { unknown, refused } = await run(
        searching,
        { do: 'status', index, ids: [id] },
        AbortSignal.timeout(STATUS_MS),
      )
      const [refusal] = refused
      if (refusal !== undefined) return { status: 'refused', reason: refusal.reason }
      return { status: unknown.length > 0 ? 'unread' : 'ready' }
    },
    async remove(workspaceId, id) {
      await reading.stop(id)
      if (!(await Bun.file(pathOf(workspaceId)).exists())) return
      await run(searching, { do: 'remove', index: pathOf(workspaceId), ids: [id] })
    },
    async keep(workspaceId, ids) {
      if (!(await Bun.file(pathOf(workspaceId)).exists())) return
      await run(searching, { do: 'keep', index: pathOf(workspaceId), ids })
    },
    close() {
      reading.close()
      searching.close()
    },
  }
}

/** Reads files into indexes. A search does not wait for them, and they do not wait for files that take long. */
function createReading(run: Run, searching: IndexPool, quickMs: number) {
  const quick = indexPool(quickMs, 1, MOST_MEMORY)
  const slow = indexPool(SLOW_MS, 1, MOST_MEMORY)
  const adding = new Map<string, { readonly ended: Promise<void>; readonly stop: AbortController }>()

  async function read(index: string, file: IndexedFile, signal: AbortSignal): Promise<void> {
    const task = { do: 'add', index, ...file } as const
    try {
      await run(quick, task, signal).catch((error: unknown) => {
        if (error instanceof TaskTimeout) return run(slow, task, signal)
        throw error
      })
    } catch (error) {
      const reason = refusalOf(error)
      if (reason === null) return
      await run(searching, { do: 'refuse', index, id: file.id, reason }).catch(() => undefined)
    }
  }

  return {
    has: (id: string): boolean => adding.has(id),
    add(index: string, file: IndexedFile): Promise<void> {
      const known = adding.get(file.id)
      if (known !== undefined) return known.ended
      const stop = new AbortController()
      const ended = read(index, file, stop.signal).finally(() => adding.delete(file.id))
      adding.set(file.id, { ended, stop })
      return ended
    },
    /** Ends when the file is not read any longer. */
    stop(id: string): Promise<void> | undefined {
      const reading = adding.get(id)
      reading?.stop.abort()
      return reading?.ended
    },
    close() {
      quick.close()
      slow.close()
    },
  }
}

/** Null for a failure that is not the file's. */
function refusalOf(error: unknown): string | null {
  if (error instanceof TaskMemory) return 'reading it takes too much memory'
  return error instanceof TaskTimeout ? `reading it takes longer than ${SLOW_MS / 1_000} s` : null
}

type IndexPool = Pool<IndexTask, IndexAnswer>
type Run = (pool: IndexPool, task: IndexTask, signal?: AbortSignal) => Promise<IndexAnswer>

const indexPool = (longestMs: number, most = 1, mostMemory?: number): IndexPool =>
  createPool<IndexTask, IndexAnswer>({
    open: () => openWorker('files/search'),
    read: readAnswer,
    most,
    mostOfGroup: 1,
    mostWaiting: MOST_WAITING,
    mostWaitingOfGroup: MOST_WAITING_OF_WORKSPACE,
    longestMs,
    ...(mostMemory !== undefined && { mostMemory }),
  })

function readAnswer(answer: unknown): IndexAnswer {
  const { found, refused, unknown, lacking, error } = fieldsOf(answer)
  return {
    found: objectsIn(found).map(({ fileId, text, rank }) => ({
      fileId: asText(fileId) ?? '',
      text: asText(text) ?? '',
      rank: typeof rank === 'number' ? rank : 0,
    })),
    refused: objectsIn(refused).map(({ fileId, reason }) => ({
      fileId: asText(fileId) ?? '',
      reason: asText(reason) ?? '',
    })),
    unknown: textsIn(unknown),
    lacking: objectsIn(lacking).map(({ id, text }) => ({ id: asCount(id) ?? 0, text: textOf(text) })),
    error: asText(error) ?? null,
  }
}
