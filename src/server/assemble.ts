import { createAuth } from '../admin/auth/deps.ts'
import type { OidcSettings } from '../admin/auth/oidc/client.ts'
import { documentFetcher } from '../admin/models/service.ts'
import { createOnce } from '../admin/once.ts'
import { createResponseStore } from '../bodies/responses.ts'
import { createPriceKeeper, recordPrices } from '../catalog/history.ts'
import { sayWarning } from '../catalog/outliers.ts'
import type { CatalogStore } from '../catalog/store.ts'
import { unusualPricesOf } from '../catalog/unusual-prices.ts'
import type { Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import { uploadedFiles } from '../files/contents.ts'
import type { FileStore } from '../files/store.ts'
import { builtinsWith } from '../filters/builtins/index.ts'
import { createAccessLog } from '../http/access-log.ts'
import { createBodyBudget } from '../http/body-budget.ts'
import { createRateLimit } from '../http/rate-limit.ts'
import { createWrongKeys } from '../http/wrong-keys.ts'
import { createRates } from '../inference/admission/rates.ts'
import { createRunning } from '../inference/admission/running.ts'
import { createTicker } from '../inference/reply/ticker.ts'
import { createResponseCache } from '../inference/response-cache/store.ts'
import { createBackgroundRuns } from '../inference/responses/background.ts'
import { createHealth } from '../inference/routing/health.ts'
import { createMeasurements, metered } from '../inference/routing/measurements.ts'
import { createContextStore } from '../inference/upstream/context-cache/store.ts'
import { sleep } from '../inference/upstream/sleep.ts'
import { openLedger } from '../ledger/open.ts'
import { KEEP_ALL, type Retention } from '../ledger/retention.ts'
import { NOTHING_ALLOWED, type OutboundAllow } from '../net/address.ts'
import { createUpstream } from '../net/client.ts'
import { contentFetcher } from '../net/content.ts'
import type { Resolve } from '../net/guarded.ts'
import { createNames } from '../net/names.ts'
import type { OwnKeySecrets } from '../snapshot/byok.ts'
import { createSnapshotSource, type Routing } from '../snapshot/source.ts'
import { openCarried } from './carried-bodies.ts'
import { type Connections, type Deps, logSettled } from './deps.ts'
import type { Logger } from './log.ts'
import { openContents } from './logged-contents.ts'
import type { LiveRouting } from './routing.ts'

export interface Parts {
  /** Migrated, with an organisation in it. */
  database: Database
  /**
   * The file of sealed bodies, migrated; how they are sealed; how long responses are kept after their last use, and
   * logged contents; what the file may hold, default 0: without bound.
   */
  bodies: {
    readonly file: Database
    readonly sealer: Sealer
    readonly retentionDays: number
    readonly mostBytes?: number
    /** How long items of responses that are not stored can be referred to; 0, the default: not at all. */
    readonly rememberMs?: number
  }
  files: FileStore
  /** How long rows of generations are kept; default: for ever. */
  retention?: Retention
  logger: Logger
  /** Writes a finished line to where the logger writes; absent: lines of requests are not written. */
  writeLine?(line: string): void
  /** What the routing is made from, how to make it anew, and where newer facts come from. */
  models: {
    readonly store: CatalogStore
    readonly live: LiveRouting
    /** What is stored of providers. */
    readonly stored: { reload(): void }
    readonly url: string
    /** The `models:` of the settings. */
    readonly settings: readonly unknown[]
  }
  outboundAllow?: OutboundAllow
  /** All addresses of a host name in a caller's URL; default: the system's resolver. */
  resolve?: Resolve
  /** What `person-name` looks for; absent or empty: there is no such filter. */
  personNames?: readonly string[]
  /** Requests of administration that one key may make in a minute; default 0: as many as it likes. */
  adminRateLimit?: number
  /** How much kept answers may take in memory; default 64 MB, 0: none is kept. */
  responseCacheBytes?: number
  /** Whether providers are asked to keep what callers mark; default: they are. */
  contextCache?: boolean
  /** The identity provider; absent or null: there is no single sign-on. */
  oidc?: OidcSettings | null
  /** How much memory request bodies in flight may take together; default 512 MB. */
  bodiesInFlightBytes?: number
  /** Whose web pages may call; default: none. */
  corsOrigins?: readonly string[]
  /** The connections of the listening server; absent in tests that call the application without one. */
  connections?: Connections
  /** Most calls to all providers at the same time; absent: without bound. */
  maxInFlight?: number
  /** How long a request waits for money that running ones hold; default 0: it is refused at once. */
  roomWaitMs?: number
  /** How long an answer waits for its settlement while nothing can be committed; absent: the ledger's own. */
  lateMs?: number
  /** Whether the disk has room for what is settled; absent: it is not looked at. */
  hasRoom?(): boolean
  /** The clock, in milliseconds since 1970. */
  now?(): number
}

export interface Assembled {
  deps: Deps
  /** Routes by this from the next request on, and keeps what it costs. */
  route(routing: Routing): void
  /** Records what models cost now, where that has changed. The start does it once it listens. */
  keepPrices(): Promise<void>
  /** Commits what waits and closes every connection; the database stays open. */
  stopParts(): Promise<void>
}

const NO_CONNECTIONS: Connections = { keepOpen: () => undefined, addressOf: () => null }
const DAY_MS = 24 * 3_600_000
const CANNOT_WRITE =
  'the ledger cannot be written: settlements wait and are tried again, and no new request is taken until then'

/** Everything behind the routes. Opens nothing but the ledger. */
export function assemble({
  database,
  bodies,
  files,
  retention = KEEP_ALL,
  logger,
  writeLine = () => undefined,
  models,
  outboundAllow = NOTHING_ALLOWED,
  resolve,
  personNames = [],
  adminRateLimit = 0,
  responseCacheBytes = 64_000_000,
  contextCache = true,
  oidc = null,
  bodiesInFlightBytes = 512_000_000,
  corsOrigins = [],
  connections = NO_CONNECTIONS,
  maxInFlight,
  roomWaitMs = 0,
  lateMs,
  hasRoom = () => true,
  now = Date.now,
}: Parts): Assembled {
  const { ledger, recovered } = openLedger(database, {
    now,
    hasRoom,
    roomWaitMs,
    lateMs,
    onFailure(error, waiting, failures) {
      if (failures === 0)
        logger.error({ err: error }, 'a row of the ledger can never be written and is given up')
      // Once: it is tried again every two seconds.
      else if (failures === 1) logger.error({ err: error, waiting }, CANNOT_WRITE)
    },
    onRecovery: () => logger.warn('the ledger can be written again'),
  })
  if (recovered > 0) logger.warn({ generations: recovered }, 'settled what a crash had left open')
  const secrets: OwnKeySecrets = {
    sealer: bodies.sealer,
    onUnreadable: ({ id, workspaceId, provider, label, reason }) =>
      logger.error(
        { byok_key: id, workspace_id: workspaceId, provider, label, reason },
        "a workspace's own provider key cannot be used and is left out",
      ),
  }
  const snapshot = createSnapshotSource(database, models.live.current(), secrets, builtinsWith(personNames))
  const keepPrices = createPriceKeeper(
    () => recordPrices(database, snapshot.current().models, now()),
    (error) => logger.error({ err: error }, 'the current prices of models could not be recorded'),
  )
  const route = (changed: Routing): void => {
    snapshot.route(changed)
    keepPrices()
  }
  const upstream = createUpstream({ maxInFlight })
  const ticker = createTicker(now)
  const measurements = createMeasurements(now)
  const background = createBackgroundRuns()
  const accessLog = createAccessLog(() => logger.isLevelEnabled('info'), writeLine)
  const contents = openContents(bodies, logger, now)
  const { remembered, carrierOf } = openCarried(bodies, logger, now)
  const deps: Deps = {
    log: logger,
    accessLog,
    now,
    database,
    sealer: bodies.sealer,
    files,
    uploads: uploadedFiles(files),
    knowsNames: personNames.length > 0,
    ...createAuth({ database, now, outboundAllow, oidc }),
    once: createOnce({ database, sealer: bodies.sealer, now }),
    snapshot,
    ledger,
    retention,
    measurements,
    contents,
    refresh: {
      url: models.url,
      now,
      fetchDocument: documentFetcher(outboundAllow, models.url),
      catalog: {
        current: models.store.current,
        builtIn: models.store.builtIn,
        replace(refreshed) {
          models.store.replace(refreshed)
          route(models.live.current())
        },
      },
    },
    overrides: {
      surroundings: models.live.surroundings,
      settings: models.settings,
      reroute: () => route(models.live.current()),
      unusual: (endpoints) => unusualPricesOf(endpoints, models.store).map(sayWarning),
    },
    providers: {
      defaults: models.live.defaults,
      originOf: models.live.originOf,
      reload(replaced) {
        models.stored.reload()
        if (replaced !== undefined) deps.run.health.forget(replaced)
        route(models.live.current())
      },
    },
    ...connections,
    bodies: createBodyBudget(bodiesInFlightBytes),
    rateLimit: createRateLimit({ perMinute: adminRateLimit, now }),
    wrongKeys: createWrongKeys({ warn: (fields, message) => logger.warn(fields, message) }),
    outboundAllow,
    names: createNames({ resolve }),
    corsOrigins,
    run: {
      now,
      random: Math.random,
      wait: sleep,
      fetchContent: contentFetcher(outboundAllow),
      upstream,
      health: metered(createHealth(now), measurements),
      measurements,
      cache:
        responseCacheBytes > 0 ? createResponseCache({ maxBytes: responseCacheBytes, now, ticker }) : null,
      contexts: contextCache ? createContextStore(now) : null,
      carrierOf,
      ledger,
      rates: createRates(now),
      running: createRunning(),
      ticker,
      contents,
      onSettled(settlement, caller, incoming) {
        measurements.settled(settlement)
        logSettled(accessLog, settlement, caller, incoming)
      },
      onLost: (error, generationId) =>
        logger.error({ err: error, generation_id: generationId }, 'a failure nobody could be told of'),
    },
    responses: {
      store: createResponseStore({ bodies: bodies.file, sealer: bodies.sealer, now }),
      background,
      retentionMs: bodies.retentionDays * DAY_MS,
      remembered,
    },
  }
  const stopParts = async (): Promise<void> => {
    await keepPrices()
    deps.wrongKeys.close()
    upstream.close()
    ticker.close()
    await background.close()
    try {
      await ledger.close()
    } finally {
      // What was settled last is logged last.
      await contents.close()
      await remembered?.close()
    }
  }
  return { deps, route, keepPrices, stopParts }
}
