import { Value } from '@sinclair/typebox/value'
import { Elysia, t } from 'elysia'
import type { CatalogInUse } from '../../../catalog/store.ts'
import type { Actor } from '../../../core/actor.ts'
import { badRequest } from '../../../core/errors.ts'
import { actorOf } from '../../../http/actor.ts'
import { readJsonBody } from '../../../http/body.ts'
import { type CallerDeps, callerOf, callerOption } from '../../../http/caller.ts'
import { keepOpen } from '../../../http/incoming.ts'
import { operationsOf } from '../../../http/operation.ts'
import { data, dataReply, deleted, deletedReply, noQuery } from '../../../http/schemas.ts'
import { problemsOf } from '../../../http/validation.ts'
import { change } from '../../change.ts'
import { listOverrides, type OverrideDeps, putOverride, removeOverride } from './overrides.ts'
import {
  type CatalogView,
  catalogView,
  overrideBody,
  overrideParams,
  overrideView,
  type RefreshBody,
  type RefreshView,
  refreshBody,
  refreshView,
  savedOverride,
} from './schema.ts'
import { type CatalogControl, type RefreshDeps, refreshCatalog, catalogView as viewOf } from './service.ts'

const documented = operationsOf('Models')
/** The complete catalogue has 2.5 MB (2026). */
const BODY_LIMIT_BYTES = 32_000_000

export type ModelAdminDeps = CallerDeps &
  OverrideDeps & {
    refresh: RefreshDeps
  }

export const modelAdminRoutes = (deps: ModelAdminDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .use(overrideRoutes(deps))
    .get('/models/refresh', () => ({ data: viewOf(deps.refresh.catalog.current()) }), {
      caller: 'management',
      response: dataReply(catalogView),
      detail: documented('getCatalog', 'Which catalogue of models is in use'),
    })
    .post(
      '/models/refresh',
      async ({ incoming }) => {
        const caller = await callerOf(deps, incoming, 'management')
        const body = await readJsonBody(incoming, BODY_LIMIT_BYTES)
        if (!Value.Check(refreshBody, body)) throw badRequest(problemsOf(refreshBody, body))
        keepOpen(incoming)
        return {
          data: await refreshWithAudit(deps, actorOf(incoming, caller, deps.addressOf(incoming)), body),
        }
      },
      {
        parse: 'none',
        response: dataReply(refreshView),
        detail: documented('refreshCatalog', 'Refresh the catalogue of models', {
          description:
            'Uses newer model metadata from the next request on, without a restart, or shows what it would change. An invalid document is rejected as a whole. Settings of models stay in force.',
          body: refreshBody,
          errors: [409, 502],
        }),
      },
    )

/** The catalogue is a file: if the audit entry cannot be written, the former one is restored. */
async function refreshWithAudit(deps: ModelAdminDeps, actor: Actor, body: RefreshBody): Promise<RefreshView> {
  let former: CatalogInUse | undefined
  const catalog: CatalogControl = {
    ...deps.refresh.catalog,
    replace(refreshed) {
      former = deps.refresh.catalog.current()
      deps.refresh.catalog.replace(refreshed)
    },
  }
  const view = await refreshCatalog({ ...deps.refresh, catalog }, body)
  if (former === undefined) return view
  try {
    await change(deps, actor, changeOf(viewOf(former), view), () => [])
  } catch (error) {
    deps.refresh.catalog.replace(former.refreshed)
    throw error
  }
  return view
}

/** For the audit log. */
const changeOf = (before: CatalogView, { source, facts_at, added, removed, price_changes }: RefreshView) => ({
  action: 'catalog.refresh' as const,
  resourceId: 'catalog',
  workspaceId: null,
  before: { source: before.source, facts_at: before.facts_at },
  after: {
    source,
    facts_at,
    added: added.length,
    removed: removed.length,
    price_changes: price_changes.length,
  },
})

const overrideRoutes = (deps: ModelAdminDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/models/overrides', () => data(listOverrides(deps)), {
      caller: 'management',
      query: noQuery,
      response: dataReply(t.Array(overrideView)),
      detail: documented('listModelOverrides', 'List overrides of model metadata'),
    })
    .put('/models/overrides', ({ actor, body }) => data(putOverride(deps, actor, { ...body })), {
      caller: 'management',
      body: overrideBody,
      response: dataReply(savedOverride),
      detail: documented('putModelOverride', 'Override the metadata of a model', {
        description:
          'Replaces an earlier override of the same model (at the same provider). Used from the next request on and after every refresh; the settings file takes precedence.',
      }),
    })
    .delete(
      '/models/overrides/:override_id',
      ({ actor, params }) => deleted(removeOverride(deps, actor, params.override_id)),
      {
        caller: 'management',
        params: overrideParams,
        response: deletedReply,
        detail: documented(
          'deleteModelOverride',
          'Delete an override: the metadata of the catalogue applies again',
        ),
      },
    )
