import { Elysia, t } from 'elysia'
import type { Database } from '../../../db/database.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { data, dataReply } from '../../../http/schemas.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import { activityItem, activityQuery } from './schema.ts'
import { activity } from './service.ts'

const documented = operationsOf('Usage')

export const activityRoutes = (deps: CallerDeps & { database: Database; ledger: Pick<Ledger, 'fold'> }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/activity', ({ query }) => data(activity(deps, query, deps.now())), {
      caller: 'management',
      query: activityQuery,
      response: dataReply(t.Array(activityItem)),
      detail: documented('getActivity', 'Usage of the last 30 days, by day, model and endpoint'),
    })
