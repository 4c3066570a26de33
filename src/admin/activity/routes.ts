import { Elysia, t } from 'elysia'
import type { Database } from '../../db/database.ts'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import type { Ledger } from '../../ledger/ledger.ts'
import { activityItem, activityQuery } from './schema.ts'
import { activity } from './service.ts'

export const activityRoutes = (deps: CallerDeps & { database: Database; ledger: Pick<Ledger, 'fold'> }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/activity', async ({ query }) => ({ data: await activity(deps, query, deps.now()) }), {
      caller: 'management',
      query: activityQuery,
      response: { 200: t.Object({ data: t.Array(activityItem) }) },
      detail: operation({
        id: 'getActivity',
        tag: 'Usage',
        summary: 'Usage of the last 30 days, by day, model and endpoint',
      }),
    })
