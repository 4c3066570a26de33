import { Elysia } from 'elysia'

export interface HealthDeps {
  /** False while draining, or while settlements cannot be written. */
  isReady(): boolean
}

/** These are answered in every state. */
export const isHealthCheck = (request: Request): boolean =>
  /\/health\/(?:live|ready)(?:\?|$)/.test(request.url)

/** For load balancers and supervisors: public, and with no facts about what runs here. */
export const healthRoutes = ({ isReady }: HealthDeps) =>
  new Elysia()
    .get('/health/live', () => ({ status: 'live' }), { detail: { hide: true } })
    .get(
      '/health/ready',
      ({ status }) => (isReady() ? { status: 'ready' } : status(503, { status: 'not ready' })),
      { detail: { hide: true } },
    )
