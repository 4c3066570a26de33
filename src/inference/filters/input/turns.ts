/** Waiting slices of work, first in first out. */
const waiting: (() => void)[] = []

/**
 * Schedules long work of all requests: one slice per turn of the event loop, so that many long requests together block it
 * no longer than one does.
 */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    waiting.push(resolve)
    if (waiting.length === 1) setImmediate(next)
  })
}

function next(): void {
  waiting[0]?.()
  waiting.shift()
  if (waiting.length > 0) setImmediate(next)
}
