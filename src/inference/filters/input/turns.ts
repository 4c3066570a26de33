/** Those that wait for their turn, first come first served. */
const waiting: (() => void)[] = []

/**
 * Long work of all requests shares the thread: one slice of one request in each turn of the event loop, so that many
 * long requests together hold it no longer than one.
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
