import { writeSync } from 'node:fs'

/** Characters that are buffered before a write. */
const BUFFER_CHARACTERS = 32_768
/** The buffer for a slow reader; beyond it, lines are dropped. */
const MOST_BYTES = 1_000_000

export interface LogDestination {
  write(line: string): void
  flush(): void
}

/**
 * Buffers lines and writes them to a file descriptor. A closed reader (EPIPE), a full disk or a full pipe neither stops the
 * process nor blocks it. `flushSync` of pino's destination sleeps and retries forever on each of them, which blocks all
 * requests (sonic-boom as of pino 10.4.0).
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
