import { change } from '../admin/change.ts'
import type { Config } from '../config.ts'
import { readSecretKey, type Sealer } from '../db/seal.ts'
import type { DeliveryEvent } from '../delivery/book.ts'
import { createDelivery, type Delivery } from '../delivery/delivery.ts'
import { OWN_TELEMETRY } from '../delivery/destination.ts'
import { ownTelemetry, readDestinations } from '../delivery/stored.ts'
import { hostOf } from '../net/address.ts'
import type { SnapshotSource } from '../snapshot/source.ts'
import { version } from '../version.ts'
import type { BodyStores } from './body-stores.ts'
import type { DataFolder } from './data-folder.ts'
import type { Logger } from './log.ts'
import { HOUR_MS, MEGABYTE } from './units.ts'

interface DeliveryParts {
  readonly config: Config
  readonly folder: DataFolder
  readonly sealer: Sealer
  readonly logger: Logger
  readonly source: SnapshotSource
  readonly stores: Pick<BodyStores, 'exportContents'>
  now(): number
}

/** Opens the delivery of the data folder, which begins with `start`, and the snapshot that keeps it up to date. */
export function openDelivery({ config, folder, sealer, logger, source, stores, now }: DeliveryParts): {
  readonly delivery: Delivery
  readonly snapshot: SnapshotSource
} {
  const { database, bodies } = folder
  const own = ownTelemetry(config)
  const audit = (event: DeliveryEvent): void => {
    record({ database, now, snapshot: { current: source.current, applyChanges: () => {} } }, event).catch(
      (error) => logger.error({ err: error }, 'an event of a destination could not be recorded'),
    )
  }
  const delivery = createDelivery({
    database,
    now,
    opening: {
      kind: 'open',
      ledger: database.path,
      bodies: bodies.path,
      secretKey: secretKeyOf(config),
      outboundAllow: config.outboundAllow,
      ownHost: config.otlpEndpoint === null ? null : hostOf(new URL(config.otlpEndpoint)),
      maxAgeMs: config.exportMaxAgeHours * HOUR_MS,
      maxBytes: config.exportMaxMb * MEGABYTE,
      service: { version, instanceId: source.current().organizationId },
    },
    destinations: (workspaceIds) =>
      readDestinations(
        {
          database,
          sealer,
          own,
          onUnreadable: (destination, error) =>
            logger.error({ err: error, destination }, 'a destination cannot be read and gets nothing'),
        },
        workspaceIds,
      ),
    onEvent(event) {
      logEvent(logger, event)
      audit(event)
    },
    forgetContents: (ids) => void stores.exportContents.forget(ids),
    onCrash: (error, retryMs) =>
      logger.error(
        { err: error, retry_ms: retryMs },
        'the thread of the delivery failed and is started again',
      ),
    onError: (error) =>
      logger.error({ err: error }, 'the state of the delivery could not be stored; retrying'),
  })
  delivery.applyChanges()
  /** Whose destinations are to be read again: more than the last ones if reading failed. */
  const written = new Set<string>()
  const applyChanges = (): ReadonlySet<string> => {
    const changed = source.applyChanges()
    for (const id of changed) written.add(id)
    if (written.size > 0) delivery.applyChanges(written.size > MOST_READ ? undefined : written)
    written.clear()
    return changed
  }
  return { delivery, snapshot: { ...source, applyChanges } }
}

/** More workspaces at a time are read with all others. */
const MOST_READ = 500

function secretKeyOf({ secretKey, data }: Config): Uint8Array {
  const key = secretKey ?? readSecretKey(data)
  if (key === undefined) throw new Error('the secret key is missing')
  return key
}

const MESSAGES: Readonly<Record<DeliveryEvent['verb'], string>> = {
  pause: 'the delivery to a destination pauses: change the destination, or test it once it accepts events',
  resume: 'the delivery to a destination goes on',
  drop: 'generations for a destination are dropped',
  recover: 'no more generations for a destination are dropped',
}

function logEvent(logger: Logger, { verb, destination: { id, type }, details }: DeliveryEvent): void {
  const fields = { destination: id, type, ...details }
  if (verb === 'pause' || verb === 'drop') logger.warn(fields, MESSAGES[verb])
  else logger.info(fields, MESSAGES[verb])
}

const DELIVERY = {
  type: 'system',
  id: 'delivery',
  label: 'delivery',
  userId: '',
  requestId: null,
  address: null,
  userAgent: null,
} as const

/** Our own telemetry is not a resource: its events are in the log alone. */
async function record(
  deps: Parameters<typeof change>[0],
  { verb, destination, details }: DeliveryEvent,
): Promise<void> {
  if (destination.id === OWN_TELEMETRY) return
  const { id, workspaceId } = destination
  await change(
    deps,
    DELIVERY,
    { action: `destination.${verb}`, resourceId: id, workspaceId, after: { ...details } },
    () => [],
  )
}
