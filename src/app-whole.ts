import { Elysia } from 'elysia'
import { auditRoutes } from './admin/identity/audit/routes.ts'
import { oidcRoutes } from './admin/identity/auth/oidc/routes.ts'
import { authRoutes } from './admin/identity/auth/routes.ts'
import { currentKeyRoutes, keyRoutes } from './admin/identity/keys/routes.ts'
import { memberRoutes } from './admin/identity/members/routes.ts'
import { organizationRoutes } from './admin/identity/organization/routes.ts'
import { workspaceRoutes } from './admin/identity/workspaces/routes.ts'
import { modelAdminRoutes } from './admin/providers/models/routes.ts'
import { providerAdminRoutes } from './admin/providers/routes.ts'
import { activityRoutes } from './admin/reports/activity/routes.ts'
import { analyticsRoutes } from './admin/reports/analytics/routes.ts'
import { creditRoutes } from './admin/reports/credits/routes.ts'
import { generationRoutes } from './admin/reports/generation/routes.ts'
import { endpointHealthRoutes } from './admin/reports/health/routes.ts'
import { assignmentRoutes } from './admin/resources/assignments/routes.ts'
import { budgetRoutes } from './admin/resources/budgets/routes.ts'
import { byokRoutes } from './admin/resources/byok/routes.ts'
import { destinationRoutes } from './admin/resources/destinations/routes.ts'
import { fileRoutes } from './admin/resources/files/routes.ts'
import { guardrailRoutes } from './admin/resources/guardrails/routes.ts'
import { presetRoutes } from './admin/resources/presets/routes.ts'
import { createRoot, googleApi, inferenceApi, SHORT_PREFIX } from './app-inference.ts'
import { imageModelRoutes } from './catalog/images/routes.ts'
import { catalogRoutes, googleCatalogRoutes } from './catalog/routes.ts'
import { documentationRoutes } from './docs/routes.ts'
import { documentRoutes } from './http/openapi.ts'
import { DOCUMENTED_PREFIX, serveBelow } from './http/prefixes.ts'
import { geminiRoutes } from './inference/gemini/routes.ts'
import type { Deps } from './server/deps.ts'

/** All other routes below the documented prefix. */
const administrationApi = (deps: Deps, basePath: string) =>
  new Elysia({ prefix: DOCUMENTED_PREFIX })
    .use(geminiRoutes(deps))
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
    .use(endpointHealthRoutes(deps))
    .use(creditRoutes(deps))
    .use(auditRoutes(deps))
    .use(catalogRoutes(deps, basePath + DOCUMENTED_PREFIX))
    .use(imageModelRoutes(deps, basePath + DOCUMENTED_PREFIX))
    .use(modelAdminRoutes(deps))

/**
 * Every route of the server: those of administration and of the catalogue, the document, and once more those that call a
 * model, so that the document lists them and a wrong method is known as such.
 */
export function createWhole(deps: Deps, basePath: string): ReturnType<typeof createRoot>['answer'] {
  const { app, answer } = createRoot(deps, basePath)
  app
    .use(documentRoutes())
    .use(documentationRoutes(basePath))
    .get('/', ({ redirect }) => redirect(`${basePath}/docs`), { detail: { hide: true } })
    .use(inferenceApi(deps))
    .use(administrationApi(deps, basePath))
    .use(googleApi(deps).use(googleCatalogRoutes(deps)))
  serveBelow(app, basePath + DOCUMENTED_PREFIX, basePath + SHORT_PREFIX)
  app.compile()
  return answer
}
