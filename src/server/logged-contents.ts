import { createContentLog } from '../bodies/content-log.ts'
import { createContentStore } from '../bodies/contents.ts'
import { makeRoom } from '../bodies/room.ts'
import type { ContentLog } from '../core/generation-content.ts'
import type { Parts } from './assemble.ts'
import type { Logger } from './log.ts'

const DAY_MS = 24 * 3_600_000

/** What workspaces log of their generations, behind the answers. A log that cannot be written is a warning. */
export function openContents(
  { file, sealer, retentionDays, mostBytes = 0 }: Parts['bodies'],
  logger: Logger,
  now: () => number,
): ContentLog {
  const store = createContentStore({ bodies: file, sealer, now, retentionMs: retentionDays * DAY_MS })
  return createContentLog({
    store,
    onDropped: (contents) =>
      logger.warn({ contents }, 'contents of generations were not logged: more came than the disk takes'),
    onLost: (error, contents) =>
      logger.warn({ err: error, contents }, 'contents of generations could not be logged and are lost'),
    async onWritten() {
      try {
        const gone = await makeRoom(file, mostBytes)
        if (gone > 0) logger.info({ contents: gone }, 'the oldest logged contents made room in bodies.db')
      } catch (error) {
        logger.warn({ err: error }, 'the oldest logged contents could not be deleted; trying again later')
      }
    },
  })
}
