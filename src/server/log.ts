import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import pino from 'pino'
import type { Config } from '../config.ts'
import { logJson, logText } from './log-text.ts'

export type Logger = pino.Logger

/** Buffered lines are written once per second and at exit. */
const FLUSH_MS = 1_000

export interface Log {
  logger: Logger
  /** Writes a formatted line. */
  writeLine(line: string): void
  flush(): void
}

/** The descriptor of stdout. */
const STDOUT = 1

/**
 * A log on stdout. Without a pino transport, which could not be bundled. Writes only fields that are passed by name, and
 * errors without their enumerable fields, which may contain a provider's text.
 */
export function createLog({ logLevel: level, logFormat }: Pick<Config, 'logLevel' | 'logFormat'>): Log {
  const isText = logFormat === 'auto' ? isatty(STDOUT) : logFormat === 'text'
  const destination = isText ? asTextFor(createDestination(STDOUT)) : createDestination(STDOUT)
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    destination,
  )
  const { flush } = destination
  setInterval(flush, FLUSH_MS).unref()
  process.on('exit', flush)
  return { logger, writeLine: destination.write, flush }
}

/** Text lines are written immediately. */
const asTextFor = ({ write, flush }: LogDestination): LogDestination => ({
  write(line) {
    write(logText(line))
    flush()
  },
  flush,
})

/** The kind and location of an error. Never the text of a provider's reply. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const isUpstream = error.name === 'UpstreamError'
  const kind = 'kind' in error && typeof error.kind === 'string' ? { kind: error.kind } : {}
  const status = 'status' in error && typeof error.status === 'number' ? { status: error.status } : {}
  if (isUpstream) return { type: error.name, ...kind, ...status }
  return { type: error.name, message: error.message, stack: error.stack, ...status }
}

/** Characters that are buffered before a write. */
const BUFFER_CHARACTERS = 32_768
/** The buffer for a slow reader; beyond it, lines are dropped. */
const MOST_BYTES = 1_000_000

interface LogDestination {
  write(line: string): void
  flush(): void
}

/**
 * Buffers lines and writes them to a file descriptor. A closed reader (EPIPE), a full disk or a full pipe neither stops the
 * process nor blocks it. `flushSync` of pino's destination sleeps and retries forever on each of them, which blocks all
 * requests (sonic-boom as of pino 10.4.0).
 */
function createDestination(descriptor: number): LogDestination {
  let waiting = Buffer.alloc(0)
  let lines: string[] = []
  let characters = 0

  const flush = (): void => {
    if (characters > 0) waiting = Buffer.concat([waiting, Buffer.from(logJson(lines.join('')))])
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
