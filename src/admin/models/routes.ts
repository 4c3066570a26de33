import { Value } from '@sinclair/typebox/value'
import { Elysia, t } from 'elysia'
import { badRequest } from '../../core/errors.ts'
import { readJsonBody } from '../../http/body.ts'
import { authenticate, type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import { problemsOf } from '../../http/validation.ts'
import { catalogView, refreshBody, refreshView } from './schema.ts'
import { type RefreshDeps, refreshCatalog, catalogView as viewOf } from './service.ts'

const tag = 'Models'
/** A document of every model of the world has 2.5 MB now. */
const BODY_LIMIT_BYTES = 32_000_000

export interface ModelAdminDeps extends CallerDeps {
  refresh: RefreshDeps
  keepOpen(request: Request): void
}

export const modelAdminRoutes = (deps: ModelAdminDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/models/refresh', () => ({ data: viewOf(deps.refresh.catalog.current()) }), {
      caller: 'management',
      response: { 200: t.Object({ data: catalogView }) },
      detail: operation({
        id: 'getCatalog',
        tag,
        summary: 'Which catalogue of models is in use',
        errors: [401, 403, 500],
      }),
    })
    .post(
      '/models/refresh',
      async ({ request }) => {
        authenticate(request, deps.snapshot.current(), 'management', deps.now())
        const body = await readJsonBody(request, BODY_LIMIT_BYTES)
        if (!Value.Check(refreshBody, body)) throw badRequest(problemsOf(refreshBody, body))
        deps.keepOpen(request)
        return { data: await refreshCatalog(deps.refresh, body) }
      },
      {
        parse: 'none',
        response: { 200: t.Object({ data: refreshView }) },
        detail: operation({
          id: 'refreshCatalog',
          tag,
          summary: 'Refresh the catalogue of models',
          description:
            'Takes newer facts for the next request, without a restart, or shows what they would change. A broken document is refused whole. What the settings say of models stays.',
          body: refreshBody,
          errors: [400, 401, 403, 409, 413, 500, 502],
        }),
      },
    )
