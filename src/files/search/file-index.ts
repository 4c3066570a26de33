import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { asCount, asText, fieldsOf, objectsIn, textOf, textsIn } from '../../core/json.ts'
import type { Embedded } from '../../db/file-vectors.ts'
import { createPool, openWorker, TaskTimeout } from '../../threads/pool.ts'
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
const LONGEST_READ_MS = 30_000
const LONGEST_SEARCH_MS = 10_000
const MOST_WAITING = 10_000

export function createIndexFiles(folder: string): IndexFiles {
  const pathOf = (workspaceId: string): string => join(folder, `${workspaceId}.db`)
  // A search does not wait for files that are being read.
  const reading = indexPool(LONGEST_READ_MS)
  const searching = indexPool(LONGEST_SEARCH_MS)
  const always = new AbortController().signal
  const adding = new Map<string, Promise<void>>()

  async function run(pool: typeof reading, task: IndexTask, signal = always): Promise<IndexAnswer> {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const answer = await pool.run(task, signal)
    if (answer.error !== null) throw new Error(`the index of files failed: ${answer.error}`)
    return answer
  }

  async function read(index: string, { id, path, filename, mediaType }: IndexedFile): Promise<void> {
    try {
      await run(reading, { do: 'add', index, id, path, filename, mediaType })
    } catch (error) {
      if (!(error instanceof TaskTimeout)) return
      const reason = `reading it takes longer than ${LONGEST_READ_MS / 1_000} s`
      await run(searching, { do: 'refuse', index, id, reason }).catch(() => undefined)
    }
  }

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
    add(workspaceId, file) {
      const known = adding.get(file.id)
      if (known !== undefined) return known
      const added = read(pathOf(workspaceId), file).finally(() => adding.delete(file.id))
      adding.set(file.id, added)
      return added
    },
    async remove(workspaceId, id) {
      await adding.get(id)
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

const indexPool = (longestMs: number) =>
  createPool<IndexTask, IndexAnswer>({
    open: () => openWorker('files/search'),
    read: readAnswer,
    most: 1,
    mostWaiting: MOST_WAITING,
    longestMs,
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
