import type { Config } from '../config.ts'
import { notFound } from '../core/errors.ts'
import { withEdge } from '../http/edge.ts'
import { answerScrape, METRICS_PATH } from '../metrics/routes.ts'
import { startBackground } from './background.ts'
import type { Deps } from './deps.ts'
import { descriptorLimit, isLowLimit, ownDescriptors, requestsWith } from './descriptors.ts'
import { type Door, openDoor } from './door.ts'
import { hasManagementKey, type MadeKeys, makeFirstKeys } from './first-run.ts'
import { type Gateway, openGateway } from './gateway.ts'
import { openListener, refuseTaken } from './listener.ts'
import { createLog, type Logger } from './log.ts'
import { MEGABYTE } from './units.ts'
import { startUpkeep } from './upkeep.ts'

/** How long callers may take to read the last bytes after all requests have ended. */
const LAST_BYTES_MS = 2_000
const LAST_BYTES_POLL_MS = 5
/** Signals within this time count as one. */
const PASSED_ON_MS = 100
const FEW_DESCRIPTORS =
  'few file descriptors are left: new connections are refused until some are free. Raise the limit (ulimit -n, LimitNOFILE)'
const NO_MANAGEMENT_KEY =
  'no management key is enabled. Was SLUICE_MANAGEMENT_KEY removed? Set it again, or run `sluice keys renew-management` while the server is stopped'

/** Runs the gateway until SIGTERM or SIGINT. Returns the exit code. Throws an error with a message for the operator. */
export async function serve(config: Config): Promise<number> {
  const { logger, writeLine, flush } = createLog(config)
  for (const warning of config.warnings) logger.warn(warning)
  await refuseTaken(config)
  let door: Door | null = null
  const address = (): string => publicAddress(config, door?.port ?? config.port)
  const gateway = await openGateway(config, { logger, writeLine, address })
  const { deps, folder } = gateway
  const upkeep = await startUpkeep(folder.bodies, deps, config.bodiesMaxMb * MEGABYTE)
  // Before the server listens: a signal that comes at once must find its handler.
  const stopping = stopSignal()
  door = listen(config, gateway)
  const metricsPort = listenForMetrics(config, gateway)
  const made = await makeFirstKeys(folder.database)
  if (made !== null) deps.snapshot.applyChanges()
  const background = startBackground(config, gateway)
  logger.info({ address: address(), data: config.data }, 'listening')
  if (!(await hasManagementKey(folder.database))) logger.warn(NO_MANAGEMENT_KEY)
  warnOfDescriptors(logger, config.maxInFlight)
  flush()
  welcome(address(), made, providersOf(deps))

  const signal = await stopping
  const { running } = deps.run
  logger.info({ signal, running: running.count() }, 'stopping: running requests may finish')
  flush()
  background.stop()
  await running.drain(config.shutdownGraceMs)
  await close(door)
  await metricsPort?.stop(true)
  await upkeep.stop()
  await gateway.close()
  logger.info({ wrong_keys: deps.wrongKeys.total() }, 'stopped')
  flush()
  return 0
}

/** Names of the configured providers, without the built-in one. */
const providersOf = ({ snapshot, providers }: Deps): string[] =>
  [...snapshot.current().providersBySlug.values()]
    .filter(({ slug }) => providers.originOf(slug) !== 'built-in')
    .map(({ name }) => name)

function listen(config: Config, { handle, deps: { log } }: Gateway): Door {
  return openDoor({
    listen: (port = config.port) => openListener({ host: config.host, port }, handle),
    descriptors: ownDescriptors(),
    onChange(isOpen, about) {
      if (isOpen) log.warn(about, 'new connections are accepted again')
      else log.warn(about, FEW_DESCRIPTORS)
    },
    onFailure: (error) => log.error({ err: error }, 'the server cannot listen again; retrying in 2 s'),
  })
}

/** The port that serves metrics alone, if the settings name one. */
function listenForMetrics(
  { host, metricsPort: port, basePath }: Config,
  { deps }: Gateway,
): Bun.Server<undefined> | null {
  if (port === null) return null
  const paths = [METRICS_PATH, basePath + METRICS_PATH]
  const answer = withEdge(
    (incoming) => {
      if (!paths.includes(incoming.path)) throw notFound(`Only ${METRICS_PATH} is served at this port`)
      return answerScrape(incoming, deps.metrics)
    },
    deps,
    { isDraining: () => false, metricsPath: METRICS_PATH },
  )
  const server = openListener({ host, port, setting: 'SLUICE_METRICS_PORT' }, answer)
  deps.log.info({ port: server.port }, 'listening for metrics')
  return server
}

/** Closes every connection once the last replies have been sent. */
async function close(door: Door): Promise<void> {
  const until = performance.now() + LAST_BYTES_MS
  while (door.pendingRequests() > 0 && performance.now() < until) await Bun.sleep(LAST_BYTES_POLL_MS)
  await door.stop()
}

function warnOfDescriptors(logger: Logger, maxInFlight: number): void {
  const limit = descriptorLimit()
  if (limit === null || !isLowLimit(limit)) return
  const about = { open_files: limit, running_requests: requestsWith(limit, maxInFlight) }
  logger.warn(about, 'the limit of open files is low: raise the hard limit (ulimit -Hn, LimitNOFILE)')
}

/**
 * Resolves with the first SIGTERM or SIGINT; a second one exits at once. Ctrl-C arrives from the terminal and, within a
 * millisecond or two, again from each `npx` or `bun run` that forwards it: together they count as one.
 */
const stopSignal = (): Promise<NodeJS.Signals> =>
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

function publicAddress(config: Config, port: number): string {
  if (config.publicUrl !== null) return config.publicUrl.replace(/\/$/, '')
  const host = config.host.includes(':') ? `[${config.host}]` : config.host
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '[::]' ? '[::1]' : host
  return `http://${reachable}:${port}${config.basePath}`
}

/**
 * Prints a summary of the start to stderr, as plain text and never through the log: new keys are shown only here. A
 * later start prints no keys.
 */
function welcome(address: string, made: MadeKeys | null, providers: readonly string[]): void {
  const lines = [
    '',
    `  Sluice is listening on ${address}`,
    `  API ${address}/api/v1    Docs ${address}/docs`,
    `  Providers: ${providers.length > 0 ? shortened(providers) : 'the built-in demo only. Set a key such as OPENAI_API_KEY to add one'}`,
  ]
  if (made !== null) lines.push(...keyLines(made), ...curlLines(address, made))
  process.stderr.write(`${lines.join('\n')}\n\n`)
}

const MOST_PROVIDERS = 8

function shortened(names: readonly string[]): string {
  const more = names.length - MOST_PROVIDERS
  return names.slice(0, MOST_PROVIDERS).join(', ') + (more > 0 ? ` and ${more} more` : '')
}

function keyLines({ apiKey, managementKey }: MadeKeys): string[] {
  const lines = ['', '  Two keys were created. They are shown only this once: store them safely.']
  if (managementKey === null || apiKey === null)
    lines[1] = '  A key was created. It is shown only this once: store it safely.'
  if (apiKey !== null) lines.push(`    inference    ${apiKey}`)
  if (managementKey !== null) lines.push(`    management   ${managementKey}`)
  return lines
}

function curlLines(address: string, { apiKey }: MadeKeys): string[] {
  if (apiKey === null) return []
  return [
    '',
    '  A first answer, with no account:',
    '',
    `curl -N ${address}/api/v1/chat/completions \\`,
    `  -H "Authorization: Bearer ${apiKey}" -H "Content-Type: application/json" \\`,
    `  -d '{"model":"sluice/demo","stream":true,"messages":[{"role":"user","content":"Hello"}]}'`,
  ]
}
