/** Milliseconds. After a shorter step the next one follows without a pause. */
const LONG_STEP_MS = 10

/** Lets the event loop serve everything else that waits: between two steps that each take long, and cannot be shorter. */
export const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** A turn of the event loop if the step that began at `begunAt` (of `performance.now()`) was long; else undefined. */
export const turnAfterLong = (begunAt: number): Promise<void> | undefined =>
  performance.now() - begunAt > LONG_STEP_MS ? turnOfLoop() : undefined

/** Yields to the event loop after every `most` characters or bytes of a read in small steps. */
export function turnsByLength(most: number): (length: number) => Promise<void> | undefined {
  let since = 0
  return (length) => {
    since += length
    if (since < most) return undefined
    since = 0
    return turnOfLoop()
  }
}

/** The same after every step of a work of many: a turn once the steps since the last one together were long. */
export function turnsByTime(): () => Promise<void> | undefined {
  let begunAt = performance.now()
  return () =>
    turnAfterLong(begunAt)?.then(() => {
      begunAt = performance.now()
    })
}
