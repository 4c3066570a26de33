import { type BodyBudget, createBodyBudget, leaseBody } from '../src/http/body-budget.ts'
import type { EdgeDeps } from '../src/http/edge.ts'
import type { ErrorLog } from '../src/http/envelope.ts'
import { type Incoming, openIncoming } from '../src/http/incoming.ts'

/** A request as the server's door hands it on. */
export const incomingOf = (request: Request, budget: BodyBudget = createBodyBudget(512_000_000)): Incoming =>
  openIncoming(request, leaseBody(budget))

/** Of a server without a log of requests. */
export const edgeDeps = (log: ErrorLog): EdgeDeps => ({
  log,
  accessLog: { request: () => undefined },
  bodies: createBodyBudget(512_000_000),
  corsOrigins: [],
  wrongKeys: { count: () => false },
  addressOf: () => null,
  onRefused: () => undefined,
})
