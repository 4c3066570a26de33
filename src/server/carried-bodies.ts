import type { Logger } from 'pino'
import { carrierFor } from '../bodies/carrier.ts'
import { createRememberedItems } from '../bodies/remembered-items.ts'
import type { Carrier } from '../core/carrier.ts'
import type { RememberedItems } from '../core/remembered-items.ts'
import type { Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'

/** What carries a conversation from one request to the next without being stored by its caller's wish. */
export interface CarriedBodies {
  /** Null: no item is remembered. */
  readonly remembered: RememberedItems | null
  carrierOf(workspaceId: string): Carrier
}

export function openCarried(
  { file, sealer, rememberMs = 0 }: { file: Database; sealer: Sealer; rememberMs?: number },
  logger: Logger,
  now: () => number,
): CarriedBodies {
  const remembered =
    rememberMs === 0
      ? null
      : createRememberedItems({
          bodies: file,
          sealer,
          now,
          keepMs: rememberMs,
          onLost: (error, items) =>
            logger.warn(
              { err: error, items },
              'items of responses could not be remembered: references to them fail',
            ),
        })
  return { remembered, carrierOf: (workspaceId) => carrierFor(sealer, workspaceId) }
}
