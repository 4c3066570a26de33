import { asText, fieldsOf } from '../../core/json.ts'
import { createPool, openWorker, type Pool } from '../../threads/pool.ts'
import type { ReadPage } from './fetch-page.ts'
import type { PageTask } from './worker.ts'

/** Pages are read by as many threads at the same time. */
const MOST = 2
const MOST_WAITING = 64
const LONGEST_MS = 10_000

export const createPagePool = (): Pool<PageTask, ReadPage> =>
  createPool({
    open: () => openWorker('tools/web-fetch'),
    read,
    transfer: ({ bytes }) => [bytes.buffer],
    most: MOST,
    mostWaiting: MOST_WAITING,
    longestMs: LONGEST_MS,
  })

function read(answer: unknown): ReadPage {
  const { title, text, published, isCut } = fieldsOf(answer)
  const date = asText(published)
  return {
    title: asText(title) ?? '',
    text: asText(text) ?? '',
    isCut: isCut === true,
    ...(date === undefined ? {} : { published: date }),
  }
}
