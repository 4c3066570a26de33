import { Elysia } from 'elysia'
import { activityRoutes } from './admin/activity/routes.ts'
import { analyticsRoutes } from './admin/analytics/routes.ts'
import { assignmentRoutes } from './admin/assignments/routes.ts'
import { auditRoutes } from './admin/audit/routes.ts'
import { oidcRoutes } from './admin/auth/oidc/routes.ts'
import { authRoutes } from './admin/auth/routes.ts'
import { budgetRoutes } from './admin/budgets/routes.ts'
import { byokRoutes } from './admin/byok/routes.ts'
import { creditRoutes } from './admin/credits/routes.ts'
import { destinationRoutes } from './admin/destinations/routes.ts'
import { fileRoutes } from './admin/files/routes.ts'
import { generationRoutes } from './admin/generation/routes.ts'
import { guardrailRoutes } from './admin/guardrails/routes.ts'
import { currentKeyRoutes, keyRoutes } from './admin/keys/routes.ts'
import { memberRoutes } from './admin/members/routes.ts'
import { modelAdminRoutes } from './admin/models/routes.ts'
import { organizationRoutes } from './admin/organization/routes.ts'
import { presetRoutes } from './admin/presets/routes.ts'
import { providerAdminRoutes } from './admin/providers/routes.ts'
import { workspaceRoutes } from './admin/workspaces/routes.ts'
import { imageModelRoutes } from './catalog/images/routes.ts'
import { catalogRoutes, googleCatalogRoutes } from './catalog/routes.ts'
import type { Deps } from './deps.ts'
import { type Handler, withEdge } from './http/edge.ts'
import { errorEnvelope } from './http/envelope.ts'
import { healthRoutes, probeRoutes } from './http/health.ts'
import { createApplication } from './http/incoming.ts'
import { documentRoutes } from './http/openapi.ts'
import { DOCUMENTED_PREFIX } from './http/openapi-document.ts'
import { serveBelow } from './http/prefixes.ts'
import { errorFormOf } from './inference/error-forms.ts'
import { bareGeminiRoutes, geminiRoutes } from './inference/gemini/routes.ts'
import { operationRoutes } from './inference/operations/routes.ts'
import { responsesRoutes } from './inference/responses/routes.ts'
import { inferenceRoutes } from './inference/routes.ts'

/** The API stands below the documented prefix, and below this one too: the base URL of OpenAI's clients ends in it. */
const SHORT_PREFIX = '/v1'

/** Every route of the API. */
const apiRoutes = (deps: Deps, basePath: string) =>
  new Elysia({ prefix: DOCUMENTED_PREFIX })
    .use(probeRoutes())
    .use(inferenceRoutes(deps))
    .use(geminiRoutes(deps))
    .use(responsesRoutes(deps))
    .use(operationRoutes(deps))
    .use(generationRoutes(deps))
    .use(currentKeyRoutes(deps))
    .use(workspaceRoutes(deps))
    .use(memberRoutes(deps))
    .use(budgetRoutes(deps))
    .use(guardrailRoutes(deps))
    .use(assignmentRoutes(deps))
    .use(byokRoutes(deps))
    .use(presetRoutes(deps))
    .use(fileRoutes(deps))
    .use(keyRoutes(deps))
    .use(organizationRoutes(deps))
    .use(authRoutes(deps))
    .use(oidcRoutes(deps))
    .use(activityRoutes(deps))
    .use(analyticsRoutes(deps))
    .use(destinationRoutes(deps))
    .use(providerAdminRoutes(deps))
    .use(creditRoutes(deps))
    .use(auditRoutes(deps))
    .use(catalogRoutes(deps, basePath + DOCUMENTED_PREFIX))
    .use(imageModelRoutes(deps, basePath + DOCUMENTED_PREFIX))
    .use(modelAdminRoutes(deps))

/** The route table has each route once, below the documented prefix. */
const routedPath = (path: string, basePath: string): string =>
  path.startsWith(`${basePath}${SHORT_PREFIX}/`)
    ? basePath + DOCUMENTED_PREFIX + path.slice(basePath.length + SHORT_PREFIX.length)
    : path

/** Google's clients ask below a prefix of their own. */
const googleRoutes = (deps: Deps) =>
  new Elysia({ prefix: '/v1beta' })
    .use(probeRoutes())
    .use(geminiRoutes(deps))
    .use(bareGeminiRoutes(deps))
    .use(googleCatalogRoutes(deps))

function whyNotReady({ run, ledger }: Deps): 'stopping' | 'storage' | null {
  if (run.running.isDraining()) return 'stopping'
  return ledger.isWritable() ? null : 'storage'
}

/** The whole server as one function from request to response, below `basePath` ('' or '/…'). */
export function createApp(deps: Deps, basePath = ''): Handler {
  const formOf = errorFormOf(basePath)
  const { app, answer } = createApplication(basePath)
  app
    .use(errorEnvelope(deps.log, { formOf, routedPath: (path) => routedPath(path, basePath) }))
    .use(healthRoutes({ whyNotReady: () => whyNotReady(deps) }))
    .use(probeRoutes())
    .use(documentRoutes())
    .get('/', ({ redirect }) => redirect(`${basePath}/docs`), { detail: { hide: true } })
    .use(apiRoutes(deps, basePath))
    .use(googleRoutes(deps))
  serveBelow(app, basePath + DOCUMENTED_PREFIX, basePath + SHORT_PREFIX)
  app.compile()
  return withEdge(answer, deps, { isDraining: deps.run.running.isDraining, formOf })
}
