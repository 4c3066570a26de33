import { createPool, openWorker, type Pool } from '../../threads/pool.ts'
import type { TokenTask } from './worker.ts'

/** One thread: a vocabulary takes 100 MB while it is in use. */
const MOST = 1
const MOST_WAITING = 32
/** Loading a vocabulary takes about a second. */
const LONGEST_MS = 5_000

/** Counts tokens with the vocabulary of a model, off the thread of all requests. */
export type TokenPool = Pool<TokenTask, readonly number[]>

export const createTokenPool = (): TokenPool =>
  createPool({
    open: () => openWorker('plugins/context-compression'),
    read(answer) {
      if (!Array.isArray(answer)) throw new Error('the tokenizer gave no counts')
      return answer.map(Number)
    },
    most: MOST,
    mostWaiting: MOST_WAITING,
    longestMs: LONGEST_MS,
  })
