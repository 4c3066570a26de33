/** The listening socket. */
import { isLocked } from '../db/lock.ts'
import type { Handler } from '../http/edge.ts'

interface Where {
  readonly host: string
  readonly port: number
  /** The setting of the port, for errors; default: SLUICE_PORT. */
  readonly setting?: string
}

/** Above all of Sluice's limits, so that Sluice rejects large requests with an error body instead of Bun without one. */
const SERVER_BODY_LIMIT_BYTES = 2 ** 40
const IDLE_TIMEOUT_SECONDS = 30

/** Throws an error that names the setting if the server cannot listen there. */
export function openListener(
  { host, port, setting = 'SLUICE_PORT' }: Where,
  app: Handler,
): Bun.Server<undefined> {
  try {
    return Bun.serve({
      hostname: host,
      port,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      maxRequestBodySize: SERVER_BODY_LIMIT_BYTES,
      development: false,
      // With `development: false` Bun 1.4.5 silently shares a port that is in use, unless `reusePort` is false.
      reusePort: false,
      fetch: app,
    })
  } catch (cause) {
    throw new Error(whyNotThere(host, port, setting, cause), { cause })
  }
}

/**
 * Throws the same error before anything is created or migrated in the data folder. Does nothing if another server uses the
 * folder: that server probably has the port, and the lock's error names it.
 */
export async function refuseTaken(config: Where & { readonly data: string }): Promise<void> {
  if (config.port === 0 || isLocked(config.data)) return
  await openListener(config, () => Response.error()).stop(true)
}

function whyNotThere(host: string, port: number, setting: string, cause: unknown): string {
  const place = `${host.includes(':') ? `[${host}]` : host}:${port}`
  switch (cause instanceof Error && 'code' in cause ? cause.code : null) {
    case 'EADDRINUSE':
      return `${place} is taken by another program: stop it, or set ${setting}`
    case 'EACCES':
      return `This user may not listen at ${place}: set ${setting} to 1024 or more`
    // Bun 1.4.5, for a name that does not resolve.
    case 'EINVAL':
    case 'EADDRNOTAVAIL':
      return `This machine has no address ${host} to listen at: set SLUICE_HOST`
    default:
      return `The server cannot listen at ${place}: ${cause instanceof Error ? cause.message : cause}`
  }
}
