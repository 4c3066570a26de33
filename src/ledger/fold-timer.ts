import type { Folding } from './folding.ts'

/** Folds once a second while rows come, and sooner when many wait. */
export interface FoldTimer {
  /** Rows were committed. */
  committed(): void
  /** Folds what waits; false if nothing can be written now. */
  fold(): boolean
  stop(): void
}

const FOLD_MS = 1000

export function createFoldTimer(folding: Folding): FoldTimer {
  let timer: ReturnType<typeof setTimeout> | undefined
  let isImmediate = false
  let isStopped = false

  /** A failed fold loses nothing: the next commit, reader or start retries it. */
  function fold(): boolean {
    clearTimeout(timer)
    timer = undefined
    if (folding.isEmpty()) return true
    try {
      folding.fold()
      return true
    } catch {
      return false
    }
  }

  function foldInTime(): void {
    isImmediate = false
    if (!isStopped) fold()
  }

  return {
    committed() {
      if (isStopped || isImmediate) return
      if (folding.isDue()) {
        isImmediate = true
        // In a turn of its own: the answers of the commit go out first.
        setImmediate(foldInTime)
      } else if (timer === undefined) timer = setTimeout(foldInTime, FOLD_MS).unref()
    },
    fold,
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}
