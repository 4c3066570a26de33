import { createRoot, googleApi, inferenceApi, SHORT_PREFIX } from './app-inference.ts'
import { onFirstUse } from './core/first-use.ts'
import { type Handler, withEdge } from './http/edge.ts'
import { DOCUMENTED_PREFIX, serveBelow } from './http/prefixes.ts'
import { errorFormOf } from './inference/reply/error-forms.ts'
import { METRICS_PATH } from './metrics/routes.ts'
import type { Deps } from './server/deps.ts'

/**
 * The server as one function from request to response, below `basePath` ('' or '/…'). Routes that call a model are loaded
 * at once. Every other path or method goes to the application of all routes, which the first such request loads: it is
 * half of the program, and most gateways rarely need it.
 */
export function createApp(deps: Deps, basePath = ''): Handler {
  const { app, answer } = createRoot(deps, basePath)
  const allRoutes = onFirstUse(async () => (await import('./app-whole.ts')).createWhole(deps, basePath))
  app
    .use(inferenceApi(deps))
    .use(googleApi(deps))
    .all('/*', async ({ incoming }) => (await allRoutes())(incoming))
  serveBelow(app, basePath + DOCUMENTED_PREFIX, basePath + SHORT_PREFIX)
  app.compile()
  return withEdge(answer, deps, {
    isDraining: deps.run.running.isDraining,
    metricsPath: basePath + METRICS_PATH,
    formOf: errorFormOf(basePath),
  })
}
