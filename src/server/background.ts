import { scheduleRefresh } from '../admin/providers/models/schedule.ts'
import { warningText } from '../catalog/outliers.ts'
import { unusualPrices } from '../catalog/unusual-prices.ts'
import type { Config } from '../config.ts'
import { probeJson } from '../net/content.ts'
import { watchLocalServers } from '../providers/discovery.ts'
import type { Gateway, GatewayRouting } from './gateway.ts'
import type { Logger } from './log.ts'

/** The pause between background tasks of the start, so that requests are not delayed. */
const TASK_PAUSE_MS = 50
const MAX_WARNINGS = 10

/** Starts background tasks once the server listens: discovery, catalogue refreshes, price warnings. */
export function startBackground(config: Config, { deps, routing }: Gateway): { stop(): void } {
  const { log } = deps
  const discovery = config.discover ? discover(routing, log) : null
  const schedule = scheduleRefresh({ ...deps.refresh, every: config.modelsRefresh, log })
  deps.delivery.start()
  const tasks = oneByOne([routing.recordPrices, () => warnOfPrices(routing, log)])
  return {
    stop() {
      tasks.stop()
      discovery?.stop()
      schedule.stop()
    },
  }
}

/** Runs each task in a separate turn of the event loop. */
function oneByOne(tasks: readonly (() => void)[]): { stop(): void } {
  const timers = tasks.map((task, index) => setTimeout(task, index * TASK_PAUSE_MS))
  return {
    stop() {
      for (const timer of timers) clearTimeout(timer)
    },
  }
}

/** Probes the usual ports of local model servers, at once and then every minute. */
function discover({ source, live, route }: GatewayRouting, log: Logger): { stop(): void } {
  return watchLocalServers({
    probe: probeJson,
    defaults: source.defaults,
    configured: () => source.configured,
    onChange(found) {
      route(live.discovered(found))
      log.info({ servers: found.providers.map(({ slug }) => slug) }, 'local model servers')
    },
    onError: (error) => log.error({ err: error }, 'local model servers could not be taken over'),
  })
}

/** Logs unusual prices: the operator's own, and those that a refresh of the catalogue changed. */
function warnOfPrices({ source, live, store }: GatewayRouting, log: Logger): void {
  const warnings = unusualPrices(live.current(), source.ownPrices, store)
  if (warnings.length === 0) return
  const prices = warnings.slice(0, MAX_WARNINGS).map(warningText)
  log.warn({ count: warnings.length, prices }, 'prices are more than ten times off: are they per token?')
}
