/** Two presses of Ctrl-C are further apart. */
const PASSED_ON_MS = 100

/**
 * Resolves with the first signal that asks to stop; the next one, of either kind, ends the process at once. Ctrl-C comes
 * from the terminal and, within a millisecond or two, once more from each `npx` or `bun run` that passes it on:
 * together they are one.
 */
export const stopSignal = (): Promise<NodeJS.Signals> =>
  new Promise((resolve) => {
    let first: { signal: NodeJS.Signals; at: number } | null = null
    const onSignal = (signal: NodeJS.Signals): void => {
      const at = performance.now()
      if (first === null) {
        first = { signal, at }
        resolve(signal)
        return
      }
      const isPassedOn = signal === 'SIGINT' && first.signal === signal && at - first.at < PASSED_ON_MS
      if (!isPassedOn) process.exit(1)
    }
    for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => onSignal(signal))
  })
