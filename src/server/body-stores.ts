import { carrierFor } from '../bodies/carrier.ts'
import { createContentLog } from '../bodies/content-log.ts'
import { createContentStore } from '../bodies/contents.ts'
import { createExportContents } from '../bodies/export-contents.ts'
import { createRememberedItems } from '../bodies/remembered-items.ts'
import { createResponseStore } from '../bodies/responses.ts'
import { makeRoom } from '../bodies/room.ts'
import type { Config } from '../config.ts'
import type { Carrier } from '../core/carrier.ts'
import type { ContentLog, ExportContents } from '../core/generation-content.ts'
import type { RememberedItems } from '../core/remembered-items.ts'
import type { ResponseStore } from '../core/stored-response.ts'
import type { Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { Logger } from './log.ts'
import { DAY_MS, HOUR_MS, MEGABYTE, MINUTE_MS } from './units.ts'

/** Everything that is stored in the file of sealed bodies. */
export interface BodyStores {
  /** The content log, written after replies are sent. */
  readonly contents: ContentLog
  /** Contents for destinations of observability. */
  readonly exportContents: ExportContents
  readonly responses: ResponseStore
  readonly retentionMs: number
  /** Items of responses that are not stored, for references in the next request; null if that is disabled. */
  readonly remembered: RememberedItems | null
  carrierOf(workspaceId: string): Carrier
  close(): Promise<void>
}

export interface BodyStoreParts {
  readonly file: Database
  readonly sealer: Sealer
  readonly config: Config
  readonly logger: Logger
  readonly metrics: Pick<Metrics, 'contentsLost'>
  now(): number
}

export function openBodyStores(parts: BodyStoreParts): BodyStores {
  const { file, sealer, config, now } = parts
  const retentionMs = config.responsesRetentionDays * DAY_MS
  const contents = openContentLog(parts, retentionMs)
  const exportContents = openExportContents(parts)
  const remembered = openRemembered(parts)
  return {
    contents,
    exportContents,
    responses: createResponseStore({ bodies: file, sealer, now }),
    retentionMs,
    remembered,
    carrierOf: (workspaceId) => carrierFor(sealer, workspaceId),
    async close() {
      await contents.close()
      await exportContents.close()
      await remembered?.close()
    },
  }
}

/** A log that cannot be written is a warning: replies do not depend on it. */
function openContentLog(
  { file, sealer, config, logger, metrics, now }: BodyStoreParts,
  retentionMs: number,
): ContentLog {
  return createContentLog({
    store: createContentStore({ bodies: file, sealer, now, retentionMs }),
    onDropped(contents) {
      metrics.contentsLost(contents)
      logger.warn(
        { contents },
        'contents of generations were not logged: they arrive faster than the disk writes',
      )
    },
    onLost(error, contents) {
      metrics.contentsLost(contents)
      logger.warn({ err: error, contents }, 'contents of generations could not be logged')
    },
    async onWritten() {
      try {
        const deleted = await makeRoom(file, config.bodiesMaxMb * MEGABYTE)
        if (deleted > 0)
          logger.info({ contents: deleted }, 'deleted the oldest logged contents to make room in bodies.db')
      } catch (error) {
        logger.warn({ err: error }, 'the oldest logged contents could not be deleted; retrying later')
      }
    },
  })
}

function openExportContents({ file, sealer, config, logger, now }: BodyStoreParts): ExportContents {
  return createExportContents({
    bodies: file,
    sealer,
    now,
    mostBytes: config.exportMaxMb * MEGABYTE,
    oldestMs: config.exportMaxAgeHours * HOUR_MS,
    onLost: (error, contents) =>
      logger.warn(
        { err: error, contents },
        'contents could not be stored for observability destinations: they are delivered without',
      ),
  })
}

function openRemembered({ file, sealer, config, logger, now }: BodyStoreParts): RememberedItems | null {
  const keepMs = config.responsesItemsMinutes * MINUTE_MS
  if (keepMs === 0) return null
  return createRememberedItems({
    bodies: file,
    sealer,
    now,
    keepMs,
    onLost: (error, items) =>
      logger.warn(
        { err: error, items },
        'items of responses could not be remembered: references to them fail',
      ),
  })
}
