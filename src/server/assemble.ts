import { createAuth } from '../admin/identity/auth/deps.ts'
import { createOnce } from '../admin/once.ts'
import { documentFetcher } from '../admin/providers/models/service.ts'
import { createCatalogLists } from '../catalog/callable.ts'
import { createPriceRecorder, recordPrices as recordPricesOf } from '../catalog/history.ts'
import { warningText } from '../catalog/outliers.ts'
import type { CatalogStore } from '../catalog/store.ts'
import { unusualPricesOf } from '../catalog/unusual-prices.ts'
import { oidcSettings } from '../config/sign-on.ts'
import type { Config } from '../config.ts'
import type { Sealer } from '../db/seal.ts'
import { uploadedFiles } from '../files/contents.ts'
import type { FileStore } from '../files/store.ts'
import { builtinsWith } from '../filters/builtins/index.ts'
import { readNameList } from '../filters/name-list.ts'
import { createAccessLog } from '../http/access-log.ts'
import { createBodyBudget } from '../http/body-budget.ts'
import type { Incoming } from '../http/incoming.ts'
import { createRateLimit } from '../http/rate-limit.ts'
import type { Site } from '../http/site.ts'
import { createWrongKeys } from '../http/wrong-keys.ts'
import type { RunDeps } from '../inference/generation.ts'
import { createBackgroundRuns } from '../inference/responses/background.ts'
import { retentionOf } from '../ledger/retention.ts'
import { clientAddress, type OutboundAllow, parseOutboundAllow, parseTrustedProxies } from '../net/address.ts'
import type { Resolve } from '../net/guarded.ts'
import { createNames } from '../net/names.ts'
import type { ByokSecrets } from '../snapshot/byok.ts'
import { createSnapshotSource, type Routing, type SnapshotSource } from '../snapshot/source.ts'
import { type BodyStores, openBodyStores } from './body-stores.ts'
import type { DataFolder } from './data-folder.ts'
import { openDelivery } from './delivery.ts'
import type { Deps } from './deps.ts'
import { openOwnLedger } from './ledger.ts'
import type { Logger } from './log.ts'
import { openLogLevels } from './log-levels.ts'
import { openMetrics, openObserving } from './metrics.ts'
import type { LiveRouting } from './routing.ts'
import { createRun } from './run.ts'
import { MEGABYTE } from './units.ts'

export interface GatewayOptions {
  readonly logger: Logger
  /** Writes a formatted line to the log; absent: requests are not logged. */
  writeLine?(line: string): void
  /** The gateway's public address, without a trailing slash. Called once requests arrive. */
  address(): string
  /** All addresses of a host name in a caller's URL; default: the system's resolver. */
  resolve?: Resolve | undefined
  /** How long a reply waits for its settlement while commits fail; default: the ledger's. */
  lateMs?: number | undefined
  /** Whether the disk has room for settlements; default: the disk of the data folder is watched. */
  hasDiskSpace?(): boolean
  /** The clock, in milliseconds since 1970. */
  now?(): number
}

export interface Parts {
  readonly config: Config
  readonly options: GatewayOptions
  /** Migrated, with an organisation in it. */
  readonly folder: DataFolder
  readonly sealer: Sealer
  readonly files: FileStore
  readonly store: CatalogStore
  readonly live: LiveRouting
  /** Stored providers. */
  readonly stored: { reload(): void }
  hasDiskSpace(): boolean
  now(): number
}

export interface Assembled {
  readonly deps: Deps
  /** Applies a routing from the next request on, and records its prices. */
  route(routing: Routing): void
  /** Records the current prices of models that have changed. */
  recordPrices(): Promise<void>
  /** Commits pending writes and closes every connection; the data folder stays open. */
  close(): Promise<void>
}

/** Creates the dependencies of all routes. Opens only the ledger. */
export function assemble(parts: Parts): Assembled {
  const { config, options, folder, sealer, files, live, now } = parts
  const { database } = folder
  const { logger, resolve, writeLine = () => undefined } = options
  const outboundAllow = parseOutboundAllow(config.outboundAllow)
  const personNames = config.personNames === null ? [] : readNameList(config.personNames).names
  const { levels: logLevels, loggers, close: closeLevels } = openLogLevels(logger, now)
  const observing = openObserving(config, now)
  const metrics = observing.observe
  const onExported = (): void => delivery.committed()
  const { lateMs } = options
  const ledger = openOwnLedger({ ...parts, database, logger: loggers.ledger, lateMs, metrics, onExported })
  const stores = openBodyStores({ file: folder.bodies, sealer, config, logger: loggers.bodies, metrics, now })
  const source = openSource(parts, personNames)
  const { delivery, snapshot } = openDelivery({ ...parts, logger: loggers.destinations, source, stores })
  const recordPrices = priceRecorder(parts, snapshot)
  const route = (changed: Routing): void => {
    snapshot.route(changed)
    run.health.forgetUnknown()
    recordPrices()
  }
  const accessLog = createAccessLog(() => loggers.requests.isLevelEnabled('info'), writeLine)
  const run = createRun({ ...parts, loggers, accessLog, ledger, outboundAllow, resolve, stores, metrics })
  const observed = { observing, snapshot, ledger, run, delivery }
  const { close: closeMetrics, ...metricsDeps } = openMetrics({ ...parts, ...observed })
  const background = createBackgroundRuns()
  const deps: Deps = {
    ...edgeDeps(parts),
    ...operatorDeps(parts, { outboundAllow, health: run.health, reroute: () => route(live.current()) }),
    ...createAuth({ database, now, outboundAllow, oidc: oidcSettings(config), site: siteOf(options) }),
    ...metricsDeps,
    logLevels,
    accessLog,
    database,
    sealer,
    ...fileDeps(files),
    knowsNames: personNames.length > 0,
    once: createOnce({ database, sealer, now }),
    snapshot,
    ledger,
    retention: retentionOf(config.ledgerRetentionDays, config.ledgerMaxMb),
    measurements: run.measurements,
    ...contentDeps(stores),
    lists: createCatalogLists(snapshot),
    outboundAllow,
    names: createNames({ resolve }),
    run,
    delivery,
    responses: { ...stores, store: stores.responses, background },
  }
  async function close(): Promise<void> {
    await recordPrices()
    for (const stop of [closeMetrics, closeLevels, deps.wrongKeys.close, files.close]) stop()
    closeRun(run)
    const ending = run.mcp.close()
    await background.close()
    await delivery.close()
    try {
      await ledger.close()
    } finally {
      // Settlements write to the content log, so it is closed last.
      await stores.close()
      await ending
    }
  }
  return { deps, route, recordPrices, close }
}

const priceRecorder = (
  { folder: { database }, options: { logger }, now }: Parts,
  snapshot: Pick<SnapshotSource, 'current'>,
) =>
  createPriceRecorder(
    () => recordPricesOf(database, snapshot.current().models, now()),
    (error) => logger.error({ err: error }, 'the current prices of models could not be recorded'),
  )

const contentDeps = ({ contents, exportContents }: BodyStores) => ({ contents, exportContents })

const fileDeps = (files: FileStore) => ({ files, uploads: uploadedFiles(files) })

function closeRun({ upstream, ticker, web, tokenPool, documents }: RunDeps): void {
  for (const one of [upstream, ticker, web, tokenPool, documents]) one.close()
}

const openSource = (
  { config, options: { logger }, folder: { database }, sealer, live }: Parts,
  personNames: readonly string[],
): SnapshotSource =>
  createSnapshotSource(
    database,
    live.current(),
    byokSecrets(sealer, logger),
    builtinsWith(personNames),
    config.otlpEndpoint !== null,
  )

/** The dependencies of the outermost layer, see `edge.ts`. */
function edgeDeps({ config, options: { logger }, now }: Parts) {
  const proxies = parseTrustedProxies(config.trustedProxies)
  return {
    log: logger,
    now,
    addressOf: ({ connection, request }: Incoming) =>
      clientAddress(
        connection?.requestIP(request)?.address ?? null,
        request.headers.get('x-forwarded-for'),
        proxies,
      ),
    bodies: createBodyBudget(config.bodiesInFlightMb * MEGABYTE),
    rateLimit: createRateLimit({ perMinute: config.adminRateLimit, now }),
    wrongKeys: createWrongKeys({ warn: (fields, message) => logger.warn(fields, message) }),
    corsOrigins: config.corsOrigins,
  } satisfies Partial<Deps>
}

interface Rerouting {
  readonly outboundAllow: OutboundAllow
  readonly health: RunDeps['health']
  /** Rebuilds the routing from the current catalogue, overrides and stored providers. */
  reroute(): void
}

/** The dependencies for changes of the catalogue, model overrides and stored providers. */
function operatorDeps(
  { config, store, live, stored, now }: Parts,
  { outboundAllow, health, reroute }: Rerouting,
) {
  return {
    refresh: {
      url: config.modelsUrl,
      now,
      fetchDocument: documentFetcher(outboundAllow, config.modelsUrl),
      catalog: {
        current: store.current,
        builtIn: store.builtIn,
        replace(refreshed) {
          store.replace(refreshed)
          reroute()
        },
      },
    },
    overrides: {
      surroundings: live.surroundings,
      settings: config.models,
      reroute,
      unusual: (endpoints) => unusualPricesOf(endpoints, store).map(warningText),
    },
    providers: {
      defaults: live.defaults,
      originOf: live.originOf,
      reload(replaced) {
        stored.reload()
        if (replaced !== undefined) health.forget(replaced)
        reroute()
      },
    },
  } satisfies Partial<Deps>
}

/** The port may be known only once the server listens. */
const siteOf = ({ address }: GatewayOptions): Site => ({
  get address() {
    return address()
  },
})

const byokSecrets = (sealer: Sealer, logger: Logger): ByokSecrets => ({
  sealer,
  onUnreadable: ({ id, workspaceId, provider, label, reason }) =>
    logger.error(
      { byok_key: id, workspace_id: workspaceId, provider, label, reason },
      'a BYOK key of a workspace cannot be used and is skipped',
    ),
})
