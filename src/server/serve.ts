import { join } from 'node:path'
import { storedOverrides } from '../admin/models/overrides.ts'
import { scheduleRefresh } from '../admin/models/schedule.ts'
import { createStoredSource, type StoredSource } from '../admin/providers/stored.ts'
import { createApp } from '../app.ts'
import { sayWarning } from '../catalog/outliers.ts'
import { type CatalogStore, openCatalogStore } from '../catalog/store.ts'
import { unusualPrices } from '../catalog/unusual-prices.ts'
import { exposureProblem } from '../config/exposure.ts'
import { oidcSettings } from '../config/sign-on.ts'
import { type Config, ConfigError } from '../config.ts'
import { BODIES_FILE, DATABASE_FILE, type Database } from '../db/database.ts'
import { closeSecretKey, openSealer, type Sealer } from '../db/seal.ts'
import { createFileStore, FILES_FOLDER } from '../files/store.ts'
import { readNameList } from '../filters/name-list.ts'
import { retentionOf } from '../ledger/retention.ts'
import { parseOutboundAllow } from '../net/address.ts'
import { probeJson } from '../net/content.ts'
import { type Discovered, watchLocalServers } from '../providers/discovery.ts'
import type { ProviderDefaults } from '../providers/environment.ts'
import type { Routing } from '../snapshot/source.ts'
import { assemble } from './assemble.ts'
import { type DataFolder, openDataFolder } from './data-folder.ts'
import type { Deps } from './deps.ts'
import { descriptorLimit, isLowLimit, ownDescriptors, requestsWith } from './descriptors.ts'
import { type DiskRoom, watchRoom } from './disk-room.ts'
import { connectionsOf, type Door, openDoor } from './door.ts'
import { ensureFirstRun, hasKeys, hasManagementKey, makeFirstKeys } from './first-run.ts'
import { openListener, refuseTaken } from './listener.ts'
import { createLog, type Logger } from './log.ts'
import { createLiveRouting, createRoutingSource, type RoutingSource, readConfigured } from './routing.ts'
import { startUpkeep } from './upkeep.ts'
import { welcome } from './welcome.ts'

/** How long callers may take to read the last bytes after everything has ended. */
const LAST_BYTES_MS = 2_000
const LAST_BYTES_POLL_MS = 5
/** Nobody presses Ctrl-C twice in so little time. */
const PASSED_ON_MS = 100
/** Between pieces of work that the start need not wait for: requests come first. */
const PIECE_PAUSE_MS = 50
const MOST_WARNINGS = 10
const FEW_DESCRIPTORS =
  'few file descriptors are left: new connections are refused until some are free. Raise the limit (ulimit -n, LimitNOFILE)'
const MEGABYTE = 1_000_000

/** Runs the gateway until SIGTERM or SIGINT, and answers the exit code. Throws a sentence when it cannot start. */
export async function serve(config: Config): Promise<number> {
  const { logger, writeLine, flush } = createLog(config.logLevel)
  for (const warning of config.warnings) logger.warn(warning)
  // What is wrong with the settings is told before anything is made.
  const store = openCatalogStore(config.data, (why) => logger.warn(`${why}: the program's own is used`))
  const configured = readConfigured(config, store)
  await refuseTaken(config)
  const folder = openDataFolder(config.data, ({ copy, bytes }) => {
    logger.info(
      { copy, megabytes: Math.ceil(bytes / MEGABYTE) },
      'copying the database before it is migrated',
    )
    flush()
  })
  const { database } = folder
  const sealer = await prepare(folder, config, logger)
  const stored = openStored(database, sealer, configured.defaults, logger)
  const routing = createRoutingSource(config, stored.current, configured, store, () =>
    storedOverrides(database, (why) => logger.error(`${why}: it is left out`)),
  )
  const live = createLiveRouting(routing)
  if (routing.outranked.length > 0)
    logger.info(
      { providers: routing.outranked },
      'what is stored of providers is not used: the settings or the environment name these providers',
    )
  const room = await watchDisk(config.data, logger)
  let door: Door | null = null
  const { deps, route, keepPrices, stopParts } = assemble({
    database,
    corsOrigins: config.corsOrigins,
    connections: connectionsOf(config.trustedProxies, () => door),
    hasRoom: room.hasRoom,
    files: createFileStore(join(config.data, FILES_FOLDER), database, config.filesQuotaMb * MEGABYTE),
    bodies: {
      file: folder.bodies,
      sealer,
      retentionDays: config.responsesRetentionDays,
      rememberMs: config.responsesItemsMinutes * 60_000,
      mostBytes: config.bodiesMaxMb * MEGABYTE,
    },
    retention: retentionOf(config.ledgerRetentionDays, config.ledgerMaxMb),
    logger,
    writeLine,
    models: { store, live, stored, url: config.modelsUrl, settings: config.models },
    outboundAllow: parseOutboundAllow(config.outboundAllow),
    personNames: config.personNames === null ? [] : readNameList(config.personNames).names,
    adminRateLimit: config.adminRateLimit,
    responseCacheBytes: config.responseCacheMb * 1_000_000,
    contextCache: config.contextCache,
    bodiesInFlightBytes: config.bodiesInFlightMb * 1_000_000,
    maxInFlight: config.maxInFlight,
    roomWaitMs: config.roomWaitMs,
    oidc: oidcSettings(config),
  })
  const upkeep = await startUpkeep(folder.bodies, deps, config.bodiesMaxMb * MEGABYTE)
  // Before anyone is told that we listen: a signal that comes at once must find its handler.
  const stopping = stopSignal()
  door = listen(config, deps)
  const address = publicAddress(config, door.port ?? config.port)
  deps.auth.site.address = address
  const made = await makeFirstKeys(database)
  if (made !== null) deps.snapshot.applyChanges()
  const discovery = config.discover
    ? discover(routing, (found) => route(live.discovered(found)), logger)
    : null
  const schedule = scheduleRefresh({ ...deps.refresh, every: config.modelsRefresh, log: logger })
  logger.info({ address, data: config.data }, 'listening')
  if (!hasManagementKey(database))
    logger.warn('no management key is enabled, as when SLUICE_MANAGEMENT_KEY is named no more: name it again')
  warnOfDescriptors(logger, config.maxInFlight)
  flush()
  welcome(address, made)
  const later = inTurns([keepPrices, () => warnOfPrices(routing, store, live.current(), logger)])

  const signal = await stopping
  logger.info({ signal, running: deps.run.running.count() }, 'stopping: running requests may finish')
  flush()
  later.stop()
  discovery?.stop()
  schedule.stop()
  await deps.run.running.drain(config.shutdownGraceMs)
  schedule.stop()
  await close(door)
  room.stop()
  await upkeep.stop()
  await stopParts()
  folder.close()
  logger.info({ wrong_keys: deps.wrongKeys.total() }, 'stopped')
  flush()
  return 0
}

/** All that must hold before the first request: keys where they are needed, the right secret key, an owner. */
async function prepare(
  { database, migrated, hasNewLedger, close }: DataFolder,
  config: Config,
  logger: Logger,
): Promise<Sealer> {
  if (hasNewLedger)
    logger.error(
      { data: config.data },
      `${DATABASE_FILE} was missing or empty although ${BODIES_FILE} is there, so a new ledger without keys, spending and generations was made. If you had one: stop, put ${DATABASE_FILE} back from a backup (sluice restore), and start again`,
    )
  const exposed = config.secretKey === null ? closeSecretKey(config.data) : null
  if (exposed !== null) logger.warn(exposed)
  for (const { applied, copy } of migrated)
    if (applied.length > 0) logger.info({ migrations: applied, copy }, 'database migrated')
  const problem = exposureProblem(config, hasKeys(database))
  if (problem !== null) {
    close()
    throw new ConfigError([problem])
  }
  const sealer = openSealer(database, config.data, config.secretKey ?? undefined)
  await ensureFirstRun(database, config)
  return sealer
}

/** Knows from the first request on whether the disk has room. */
async function watchDisk(folder: string, logger: Logger): Promise<DiskRoom> {
  const room = watchRoom(folder, {
    onChange(hasRoom, { freeBytes }) {
      const about = { free_mb: Math.floor(freeBytes / 1_000_000) }
      if (hasRoom) logger.warn(about, 'the disk has room again')
      else logger.error(about, 'the disk has hardly any room left: no new request is taken until it has')
    },
  })
  await room.look()
  return room
}

/** What is stored of providers. What cannot be used of it is told, and does not stop the start. */
const openStored = (
  database: Database,
  sealer: Sealer,
  defaults: ProviderDefaults,
  logger: Logger,
): StoredSource =>
  createStoredSource(database, sealer, defaults, ({ id, provider, label, reason }) =>
    logger.error(
      { credential: id, provider, label, reason },
      `a stored ${label === 'entry' ? 'entry' : 'credential'} cannot be used and is left out`,
    ),
  )

function listen(config: Config, deps: Deps): Door {
  const app = createApp(deps, config.basePath)
  const { log } = deps
  return openDoor({
    listen: (port = config.port) => openListener({ host: config.host, port }, app),
    descriptors: ownDescriptors(),
    onChange(isOpen, about) {
      if (isOpen) log.warn(about, 'new connections are accepted again')
      else log.warn(about, FEW_DESCRIPTORS)
    },
    onFailure: (error) => log.error({ err: error }, 'the server cannot listen again; the next try is in 2 s'),
  })
}

/** What the start need not wait for, one piece each time the thread is free. */
function inTurns(pieces: readonly (() => void)[]): { stop(): void } {
  const clocks = pieces.map((piece, index) => setTimeout(piece, index * PIECE_PAUSE_MS))
  return {
    stop() {
      for (const clock of clocks) clearTimeout(clock)
    },
  }
}

/** Ends every connection, once the replies of what has finished are on their way: a reply that is made is not yet sent. */
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

/** Prices that are far from the usual: the operator's own, and of a refreshed catalogue those that it brought. */
function warnOfPrices(source: RoutingSource, store: CatalogStore, routing: Routing, logger: Logger): void {
  const warnings = unusualPrices(routing, source.ownPrices, store)
  if (warnings.length === 0) return
  const shown = warnings.slice(0, MOST_WARNINGS).map(sayWarning)
  logger.warn(
    { count: warnings.length, prices: shown },
    'prices are more than ten times off: are they per token?',
  )
}

/** Looks for local model servers, at once and then every minute; the start does not wait for it. */
function discover(
  routing: RoutingSource,
  onChange: (found: Discovered) => void,
  logger: Logger,
): { stop(): void } {
  return watchLocalServers({
    probe: probeJson,
    defaults: routing.defaults,
    configured: () => routing.configured,
    onChange: (found) => {
      onChange(found)
      logger.info({ servers: found.providers.map(({ slug }) => slug) }, 'local model servers')
    },
    onError: (error) => logger.error({ err: error }, 'local model servers could not be taken over'),
  })
}

/**
 * Resolves with the first signal that asks to stop; the next one, of either kind, ends the process at once. Ctrl-C comes
 * from the terminal and, within a millisecond or two, once more from each `npx` or `bun run` that passes it on:
 * together they are one.
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
