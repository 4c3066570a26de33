import { Elysia } from 'elysia'
import { version } from '../version.ts'

export interface HealthDeps {
  /** Every reason; empty if ready. */
  whyNotReady(): readonly NotReady[]
}

export type NotReady = keyof typeof SENTENCES

const SENTENCES = {
  stopping: 'The gateway is shutting down: running requests finish, new ones are refused',
  ledger: 'Commits of the ledger fail: the log has the cause',
  disk: 'There is hardly any room left on the disk of the data folder',
} as const

/** True for health checks, which are served in every state and not logged. */
export function isHealthCheck(path: string): boolean {
  if (!path.includes('/health')) return false
  const prefix = /\/v1(?:beta)?\//.exec(path)
  if (prefix === null) return /\/health(?:\/(?:live|ready))?$/.test(path)
  return path.slice(prefix.index + prefix[0].length) === 'health'
}

/** The short form that some clients request: public, at the root and below every prefix. */
export const probeRoutes = () =>
  new Elysia()
    .get('/health', () => ({ status: 'live' }), { detail: { hide: true } })
    .get('/version', () => ({ name: 'sluice', version }), { detail: { hide: true } })

/** Health checks for load balancers and supervisors. Public: they reveal only readiness and its cause. */
export const healthRoutes = ({ whyNotReady }: HealthDeps) =>
  new Elysia()
    .get('/health/live', () => ({ status: 'live' }), { detail: { hide: true } })
    .get(
      '/health/ready',
      ({ status }) => {
        const reasons = whyNotReady().map((reason) => ({ reason, message: SENTENCES[reason] }))
        return reasons.length === 0 ? { status: 'ready' } : status(503, { status: 'not ready', reasons })
      },
      { detail: { hide: true } },
    )
