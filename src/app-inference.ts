import { Elysia } from 'elysia'
import { errorEnvelope } from './http/envelope.ts'
import { healthRoutes, type NotReady, probeRoutes } from './http/health.ts'
import { createApplication } from './http/incoming.ts'
import { DOCUMENTED_PREFIX } from './http/prefixes.ts'
import { bareGeminiRoutes, geminiRoutes } from './inference/gemini/routes.ts'
import { operationRoutes } from './inference/operations/routes.ts'
import { errorFormOf } from './inference/reply/error-forms.ts'
import { responsesRoutes } from './inference/responses/routes.ts'
import { inferenceRoutes } from './inference/routes.ts'
import { metricsRoutes } from './metrics/routes.ts'
import type { Deps } from './server/deps.ts'

/** The API is served below the documented prefix and below this one, in which the base URL of OpenAI's clients ends. */
export const SHORT_PREFIX = '/v1'

/** The route table has each route once, below the documented prefix. */
const routedPath = (path: string, basePath: string): string =>
  path.startsWith(`${basePath}${SHORT_PREFIX}/`)
    ? basePath + DOCUMENTED_PREFIX + path.slice(basePath.length + SHORT_PREFIX.length)
    : path

function whyNotReady({ run, ledger }: Deps): NotReady[] {
  const reasons: NotReady[] = []
  if (run.running.isDraining()) reasons.push('stopping')
  if (ledger.hasBacklog()) reasons.push('ledger')
  if (!ledger.hasRoom()) reasons.push('disk')
  return reasons
}

/** An application with what every one of the server has: the envelope of errors, and health. */
export function createRoot(deps: Deps, basePath: string) {
  const { app, answer } = createApplication(basePath)
  app
    .use(
      errorEnvelope(deps.log, {
        formOf: errorFormOf(basePath),
        routedPath: (path) => routedPath(path, basePath),
      }),
    )
    .use(healthRoutes({ whyNotReady: () => whyNotReady(deps) }))
    .use(probeRoutes())
    .use(metricsRoutes(deps.metrics))
  return { app, answer }
}

/**
 * The routes below the documented prefix that call a model, without Google's: their wildcard would also match
 * administration's requests below `/models`.
 */
export const inferenceApi = (deps: Deps) =>
  new Elysia({ prefix: DOCUMENTED_PREFIX })
    .use(probeRoutes())
    .use(inferenceRoutes(deps))
    .use(responsesRoutes(deps))
    .use(operationRoutes(deps))

/** Google's clients ask below a prefix of their own. */
export const googleApi = (deps: Deps) =>
  new Elysia({ prefix: '/v1beta' }).use(probeRoutes()).use(geminiRoutes(deps)).use(bareGeminiRoutes(deps))
