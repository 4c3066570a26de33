import { join } from 'node:path'
import { storedOverrides } from '../admin/providers/models/overrides.ts'
import { createStoredSource, type StoredSource } from '../admin/providers/stored.ts'
import { createApp } from '../app.ts'
import { type CatalogStore, openCatalogStore } from '../catalog/store.ts'
import { exposureProblem } from '../config/exposure.ts'
import { type Config, ConfigError } from '../config.ts'
import { BODIES_FILE, DATABASE_FILE, type Database } from '../db/database.ts'
import { closeSecretKey, openSealer, type Sealer } from '../db/seal.ts'
import { FILES_FOLDER, openFileStore } from '../files/store.ts'
import type { Handler } from '../http/edge.ts'
import type { ProviderDefaults } from '../providers/environment.ts'
import { type Assembled, assemble, type GatewayOptions } from './assemble.ts'
import { type DataFolder, openDataFolder } from './data-folder.ts'
import type { Deps } from './deps.ts'
import { watchDiskSpace } from './disk-space.ts'
import { ensureFirstRun, hasKeys } from './first-run.ts'
import type { Logger } from './log.ts'
import {
  createLiveRouting,
  createRoutingSource,
  type LiveRouting,
  type RoutingSource,
  readConfigured,
} from './routing.ts'
import { MEGABYTE } from './units.ts'

export interface Gateway {
  readonly handle: Handler
  readonly deps: Deps
  readonly folder: DataFolder
  /** The routing, which can change while the gateway runs. */
  readonly routing: GatewayRouting
  /** Commits pending writes, and closes every connection and the data folder. Requests must have ended. */
  close(): Promise<void>
}

export interface GatewayRouting extends Pick<Assembled, 'route' | 'recordPrices'> {
  readonly source: RoutingSource
  readonly live: LiveRouting
  readonly store: CatalogStore
}

/**
 * Opens a gateway without listening. Throws a `ConfigError`, or an error with a message for the operator if the data folder
 * cannot be used.
 */
export async function openGateway(config: Config, options: GatewayOptions): Promise<Gateway> {
  const { logger, now = Date.now } = options
  const store = openCatalogStore(config.data, (why) => logger.warn(`${why}: the program's own is used`))
  const configured = readConfigured(config, store)
  const folder = openDataFolder(config.data, ({ copy, bytes }) => {
    const megabytes = Math.ceil(bytes / MEGABYTE)
    logger.info({ copy, megabytes }, 'copying the database before it is migrated')
    logger.flush()
  })
  try {
    const { database } = folder
    const sealer = await prepare(folder, config, logger)
    const stored = openStored(database, sealer, configured.defaults, logger)
    const source = createRoutingSource(config, stored.current, configured, store, () =>
      storedOverrides(database, (why) => logger.error(`${why}: it is left out`)),
    )
    if (source.outranked.length > 0)
      logger.info(
        { providers: source.outranked },
        'stored providers are not used: the settings or the environment define providers of the same name',
      )
    const live = createLiveRouting(source)
    const disk = options.hasDiskSpace === undefined ? await watchDisk(config.data, logger) : null
    const hasDiskSpace = options.hasDiskSpace ?? disk?.hasDiskSpace ?? (() => true)
    const quotaBytes = config.filesQuotaMb * MEGABYTE
    const files = await openFileStore(
      join(config.data, FILES_FOLDER),
      database,
      quotaBytes,
      (err, workspace) =>
        logger.warn(
          { err, workspace },
          'files are searched by their words alone: the embedding model failed',
        ),
    )
    const parts = assemble({ config, options, folder, sealer, files, store, live, stored, hasDiskSpace, now })
    const { deps, route, recordPrices } = parts
    return {
      handle: createApp(deps, config.basePath),
      deps,
      folder,
      routing: { source, live, store, route, recordPrices },
      async close() {
        disk?.stop()
        await parts.close()
        folder.close()
      },
    }
  } catch (error) {
    folder.close()
    throw error
  }
}

/** Checks and creates what the first request needs: keys if they are required, the right secret key, an owner. */
async function prepare(
  { database, migrated, isNew, hasNewLedger }: DataFolder,
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
  if (isNew) logger.info({ data: config.data }, 'created a new data folder')
  for (const { applied, copy } of isNew ? [] : migrated)
    if (applied.length > 0) logger.info({ migrations: applied, copy }, 'database migrated')
  const problem = exposureProblem(config, await hasKeys(database))
  if (problem !== null) throw new ConfigError([problem])
  const sealer = openSealer(database, config.data, config.secretKey ?? undefined)
  await ensureFirstRun(database, config)
  return sealer
}

/** Loads stored providers. Unusable rows are logged and skipped; they never block the start. */
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

/** Watches the disk; the first check is complete before the first request. */
async function watchDisk(folder: string, logger: Logger) {
  const room = watchDiskSpace(folder, {
    onChange(hasDiskSpace, { freeBytes }) {
      const about = { free_mb: Math.floor(freeBytes / MEGABYTE) }
      if (hasDiskSpace) logger.warn(about, 'the disk has room again')
      else logger.error(about, 'the disk has hardly any room left: no new request is taken until it has')
    },
  })
  await room.look()
  return room
}
