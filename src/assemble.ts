import { createAuth } from './admin/auth/deps.ts'
import type { OidcSettings } from './admin/auth/oidc/client.ts'
import { documentFetcher } from './admin/models/service.ts'
import { createOnce } from './admin/once.ts'
import { createResponseStore } from './bodies/responses.ts'
import { recordPrices } from './catalog/history.ts'
import { sayWarning } from './catalog/outliers.ts'
import type { CatalogStore } from './catalog/store.ts'
import { unusualPricesOf } from './catalog/unusual-prices.ts'
import type { Database } from './db/database.ts'
import type { Sealer } from './db/seal.ts'
import { type Deps, logSettled } from './deps.ts'
import { uploadedFiles } from './files/contents.ts'
import type { FileStore } from './files/store.ts'
import { createRateLimit } from './http/rate-limit.ts'
import { createResponseCache } from './inference/cache/store.ts'
import { createHealth } from './inference/health.ts'
import { createMeasurements, metered } from './inference/measurements.ts'
import { createBackgroundRuns } from './inference/responses/background.ts'
import { createRunning } from './inference/running.ts'
import { createTicker } from './inference/ticker.ts'
import { openLedger } from './ledger/open.ts'
import type { Logger } from './log.ts'
import { NOTHING_ALLOWED, type OutboundAllow } from './net/address.ts'
import { createUpstream } from './net/client.ts'
import { contentFetcher } from './net/content.ts'
import type { LiveRouting } from './routing.ts'
import { createSnapshotSource, type Routing } from './snapshot/source.ts'

export interface Parts {
  /** Migrated, with an organisation in it. */
  database: Database
  /** The file of sealed bodies, migrated; how they are sealed; how long responses are kept after their last use. */
  bodies: { readonly file: Database; readonly sealer: Sealer; readonly retentionDays: number }
  files: FileStore
  logger: Logger
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
  /** Requests of administration that one key may make in a minute; default 0: as many as it likes. */
  adminRateLimit?: number
  /** How much kept answers may take in memory; default 64 MB, 0: none is kept. */
  responseCacheBytes?: number
  /** The identity provider; absent or null: there is no single sign-on. */
  oidc?: OidcSettings | null
  /** The clock, in milliseconds since 1970. */
  now?(): number
}

export interface Assembled {
  deps: Deps
  /** Routes by this from the next request on, and keeps what it costs. */
  route(routing: Routing): void
  /** Commits what waits and closes every connection; the database stays open. */
  stopParts(): Promise<void>
}

const DAY_MS = 24 * 3_600_000

/** Everything behind the routes. Opens nothing but the ledger. */
export function assemble({
  database,
  bodies,
  files,
  logger,
  models,
  outboundAllow = NOTHING_ALLOWED,
  adminRateLimit = 0,
  responseCacheBytes = 64_000_000,
  oidc = null,
  now = Date.now,
}: Parts): Assembled {
  const { ledger, recovered } = openLedger(database, {
    now,
    onFailure: (error, waiting) =>
      logger.error({ err: error, waiting }, 'the ledger could not be written; trying again'),
  })
  if (recovered > 0) logger.warn({ generations: recovered }, 'settled what a crash had left open')
  const snapshot = createSnapshotSource(database, models.live.current(), {
    sealer: bodies.sealer,
    onUnreadable: ({ id, workspaceId, provider, label, reason }) =>
      logger.error(
        { byok_key: id, workspace_id: workspaceId, provider, label, reason },
        "a workspace's own provider key cannot be used and is left out",
      ),
  })
  const keepPrices = (): void => {
    try {
      recordPrices(database, snapshot.current().models, now())
    } catch (error) {
      logger.error({ err: error }, 'what models cost now could not be kept')
    }
  }
  const route = (changed: Routing): void => {
    snapshot.route(changed)
    keepPrices()
  }
  const upstream = createUpstream()
  const ticker = createTicker(now)
  const measurements = createMeasurements(now)
  const background = createBackgroundRuns()
  const deps: Deps = {
    log: logger,
    now,
    database,
    sealer: bodies.sealer,
    files,
    uploads: uploadedFiles(files),
    ...createAuth({ database, now, outboundAllow, oidc }),
    once: createOnce({ database, sealer: bodies.sealer, now }),
    snapshot,
    ledger,
    measurements,
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
    keepOpen: () => undefined,
    addressOf: () => null,
    rateLimit: createRateLimit({ perMinute: adminRateLimit, now }),
    outboundAllow,
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
      ledger,
      running: createRunning(),
      ticker,
      onSettled(settlement, caller) {
        measurements.settled(settlement)
        logSettled(logger, settlement, caller)
      },
      onLost: (error, generationId) =>
        logger.error({ err: error, generation_id: generationId }, 'a failure nobody could be told of'),
    },
    responses: {
      store: createResponseStore({ bodies: bodies.file, sealer: bodies.sealer, now }),
      background,
      retentionMs: bodies.retentionDays * DAY_MS,
    },
  }
  keepPrices()
  const stopParts = async (): Promise<void> => {
    keepPrices()
    upstream.close()
    ticker.close()
    await background.close()
    await ledger.close()
  }
  return { deps, route, stopParts }
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}
