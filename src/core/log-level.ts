/** Lowest first. */
export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal'] as const
export type LogLevel = (typeof LOG_LEVELS)[number]

/**
 * Parts of the log whose level can be changed while the server runs.
 * - `requests`: a line for each request
 * - `providers`: health of endpoints; at `debug` every attempt
 * - `ledger`: commits and recovery
 * - `bodies`: stored responses and logged contents
 * - `destinations`: deliveries to observability destinations
 * - `server`: everything else
 */
export const LOG_AREAS = ['requests', 'providers', 'ledger', 'bodies', 'destinations', 'server'] as const
export type LogArea = (typeof LOG_AREAS)[number]

export interface AreaLevel {
  readonly level: LogLevel
  /** When it returns to the level of the settings, in milliseconds since 1970; null: it is that level. */
  readonly until: number | null
}

export interface LogLevels {
  /** The level of the settings. */
  readonly usual: LogLevel
  current(): Readonly<Record<LogArea, AreaLevel>>
  /** Changes levels for an hour; null: back to the level of the settings. */
  set(levels: Readonly<Partial<Record<LogArea, LogLevel | null>>>): void
}
