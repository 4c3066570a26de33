import { writeSync } from 'node:fs'

/** Characters that are gathered before a write. */
const BUFFER_CHARACTERS = 32_768
/** What may wait for a slow reader; beyond it lines are lost, rather than memory or time. */
const MOST_BYTES = 1_000_000

export interface LogDestination {
  write(line: string): void
  flush(): void
}

/**
 * Lines to a file descriptor, gathered. A reader that is gone (EPIPE), a full disk or a full pipe neither stops the
 * process nor makes it wait. `flushSync` of pino's own destination sleeps and tries again for ever on each of them,
 * with every request waiting (sonic-boom as of pino 10.4.0).
 */
export function createDestination(descriptor: number): LogDestination {
  let waiting = Buffer.alloc(0)
  let lines: string[] = []
  let characters = 0

  const flush = (): void => {
    if (characters > 0) waiting = Buffer.concat([waiting, Buffer.from(lines.join(''))])
    lines = []
    characters = 0
    try {
      while (waiting.length > 0) waiting = waiting.subarray(writeSync(descriptor, waiting))
    } catch (error) {
      const isFull = error instanceof Error && 'code' in error && error.code === 'EAGAIN'
      if (!isFull || waiting.length > MOST_BYTES) waiting = Buffer.alloc(0)
    }
  }
  return {
    write(line) {
      lines.push(line)
      characters += line.length
      if (characters >= BUFFER_CHARACTERS) flush()
    },
    flush,
  }
}
