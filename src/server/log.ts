import { isatty } from 'node:tty'
import pino from 'pino'
import type { Config } from '../config.ts'
import { createDestination, type LogDestination } from './log-destination.ts'
import { logText } from './log-text.ts'

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
