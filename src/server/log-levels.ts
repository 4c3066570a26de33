import {
  type AreaLevel,
  LOG_AREAS,
  LOG_LEVELS,
  type LogArea,
  type LogLevel,
  type LogLevels,
} from '../core/log-level.ts'
import type { Logger } from './log.ts'

export interface OpenLogLevels {
  readonly levels: LogLevels
  readonly loggers: Readonly<Record<LogArea, Logger>>
  close(): void
}

const LASTS_MS = 3_600_000

/** Splits a log into areas with levels of their own. A changed level ends by itself after an hour. */
export function openLogLevels(logger: Logger, now: () => number): OpenLogLevels {
  const usual = LOG_LEVELS.find((level) => level === logger.level) ?? 'info'
  const untilOf = new Map<LogArea, number>()
  const of = (area: LogArea): Logger => (area === 'server' ? logger : logger.child({ area }))
  const loggers = {
    requests: of('requests'),
    providers: of('providers'),
    ledger: of('ledger'),
    bodies: of('bodies'),
    destinations: of('destinations'),
    server: of('server'),
  } satisfies Record<LogArea, Logger>
  const own = logger.level
  let timer: ReturnType<typeof setTimeout> | undefined

  function reset(area: LogArea): void {
    untilOf.delete(area)
    loggers[area].level = own
  }

  function expire(): void {
    const ended = [...untilOf].filter(([, until]) => until <= now()).map(([area]) => area)
    for (const area of ended) reset(area)
    if (ended.length > 0)
      logger.info({ areas: ended }, 'the log levels of these areas are back to SLUICE_LOG_LEVEL')
    schedule()
  }

  function schedule(): void {
    clearTimeout(timer)
    const next = Math.min(...untilOf.values())
    if (untilOf.size > 0) timer = setTimeout(expire, Math.max(0, next - now())).unref()
  }

  function levelOf(area: LogArea): AreaLevel {
    const level = LOG_LEVELS.find((one) => one === loggers[area].level) ?? usual
    return { level, until: untilOf.get(area) ?? null }
  }

  const levels: LogLevels = {
    usual,
    current() {
      expire()
      return {
        requests: levelOf('requests'),
        providers: levelOf('providers'),
        ledger: levelOf('ledger'),
        bodies: levelOf('bodies'),
        destinations: levelOf('destinations'),
        server: levelOf('server'),
      }
    },
    set(changed) {
      for (const area of LOG_AREAS) {
        const level: LogLevel | null | undefined = changed[area]
        if (level === undefined) continue
        reset(area)
        if (level === null) continue
        loggers[area].level = level
        untilOf.set(area, now() + LASTS_MS)
      }
      schedule()
    },
  }
  return { levels, loggers, close: () => clearTimeout(timer) }
}
