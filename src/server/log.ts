import pino from 'pino'
import { createDestination } from './log-destination.ts'

export type Logger = pino.Logger

/** What waits is written once a second and at the exit. */
const FLUSH_MS = 1_000

export interface Log {
  logger: Logger
  /** Writes a finished line to the same place. */
  writeLine(line: string): void
  flush(): void
}

/**
 * JSON lines on stdout. No transport: it could not be bundled. Only what is passed field by field is written, and
 * errors without their enumerable fields, which may hold a provider's words.
 */
export function createLog(level: string): Log {
  const destination = createDestination(1)
  const logger = pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, serializers: { err: describeError } },
    destination,
  )
  const { flush } = destination
  setInterval(flush, FLUSH_MS).unref()
  process.on('exit', flush)
  return { logger, writeLine: destination.write, flush }
}

/** The kind of failure and where it happened. Never the text of a provider's reply. */
function describeError(error: unknown): Record<string, unknown> {
  if (!(error instanceof Error)) return { type: typeof error }
  const isUpstream = error.name === 'UpstreamError'
  const kind = 'kind' in error && typeof error.kind === 'string' ? { kind: error.kind } : {}
  const status = 'status' in error && typeof error.status === 'number' ? { status: error.status } : {}
  if (isUpstream) return { type: error.name, ...kind, ...status }
  return { type: error.name, message: error.message, stack: error.stack, ...status }
}
