import { asText, fieldsOf } from '../../core/json.ts'
import { createPool, type Pool } from '../../threads/pool.ts'
import type { ReadPage } from './fetch-page.ts'
import type { PageTask } from './worker.ts'

/** Pages are read by as many threads at the same time. */
const MOST = 2
const MOST_WAITING = 64
const LONGEST_MS = 10_000
const IDLE_MS = 30_000

/** From the source the worker is a file beside this one; in the executable an entry point with the same path. */
const WORKER = import.meta.url.endsWith('.ts')
  ? new URL('./worker.ts', import.meta.url).href
  : './tools/web-fetch/worker.ts'

export const createPagePool = (): Pool<PageTask, ReadPage> =>
  createPool({
    open: () => new Worker(WORKER, { smol: true, ref: false }),
    read,
    transfer: ({ bytes }) => [bytes.buffer],
    most: MOST,
    mostWaiting: MOST_WAITING,
    longestMs: LONGEST_MS,
    idleMs: IDLE_MS,
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
