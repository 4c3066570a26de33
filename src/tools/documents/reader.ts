import type { DocumentFile, DocumentReader, DocumentText } from '../../core/document-reader.ts'
import { badRequest } from '../../core/errors.ts'
import { asCount, asText, fieldsOf, objectsIn, textOf } from '../../core/json.ts'
import { TaskMemory } from '../../threads/memory-watch.ts'
import { createPool, openWorker, TaskTimeout } from '../../threads/pool.ts'

/** Documents are read by as many threads at the same time, and those of one workspace never by all of them. */
const MOST = 3
const MOST_OF_WORKSPACE = 2
const MOST_WAITING = 64
const MOST_WAITING_OF_WORKSPACE = 32
const LONGEST_MS = 20_000
/** All documents of 15 MB that people write take less. */
const MOST_MEMORY = 640 * 1024 * 1024

type Answer = DocumentText | { readonly refusal: string; readonly cause: string }

/** Starts nothing until the first document. */
export function createDocumentReader(): DocumentReader {
  const pool = createPool<DocumentFile, Answer>({
    open: () => openWorker('tools/documents'),
    read,
    transfer: ({ bytes }) => [bytes.buffer],
    most: MOST,
    mostOfGroup: MOST_OF_WORKSPACE,
    mostWaiting: MOST_WAITING,
    mostWaitingOfGroup: MOST_WAITING_OF_WORKSPACE,
    longestMs: LONGEST_MS,
    mostMemory: MOST_MEMORY,
  })
  return {
    async read(file, signal, workspaceId) {
      const name = file.name === '' ? 'The file' : `The file ${JSON.stringify(file.name.slice(0, 200))}`
      const answer = await pool.run(file, signal, workspaceId).catch((error: unknown) => {
        if (error instanceof TaskTimeout)
          throw badRequest(`${name} cannot be read: it takes longer than ${LONGEST_MS / 1000} s`)
        if (error instanceof TaskMemory) throw badRequest(`${name} cannot be read: it takes too much memory`)
        throw error
      })
      if ('refusal' in answer) throw badRequest(`${name} cannot be read: ${answer.refusal}`)
      return answer
    },
    close: pool.close,
  }
}

function read(answer: unknown): Answer {
  const { refusal, cause, kind, text, pages, isCut, hash, scans } = fieldsOf(answer)
  if (refusal !== undefined) return { refusal: String(refusal), cause: String(cause) }
  return {
    kind: asText(kind) ?? '',
    text: asText(text) ?? '',
    pages: asCount(pages) ?? null,
    isCut: isCut === true,
    hash: asText(hash) ?? '',
    ...(scans !== undefined && {
      scans: objectsIn(scans).map(({ page, url }) => ({ page: asCount(page) ?? 0, url: textOf(url) })),
    }),
  }
}
