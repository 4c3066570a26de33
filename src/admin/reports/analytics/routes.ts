import { Elysia } from 'elysia'
import type { Database } from '../../../db/database.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { dataReply } from '../../../http/schemas.ts'
import type { Ledger } from '../../../ledger/ledger.ts'
import { analyticsMeta, analyticsMetaView, analyticsQuery, analyticsResult } from './schema.ts'
import { queryAnalytics } from './service.ts'

const documented = operationsOf('Usage')
const caller = 'management'

export const analyticsRoutes = (deps: CallerDeps & { database: Database; ledger: Pick<Ledger, 'fold'> }) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/analytics/meta', () => ({ data: analyticsMetaView() }), {
      caller,
      response: dataReply(analyticsMeta),
      detail: documented('getAnalyticsMeta', 'What POST /analytics/query can be asked'),
    })
    .post(
      '/analytics/query',
      async ({ body }) => {
        deps.ledger.fold()
        return { data: await queryAnalytics(deps.database.db, body, deps.now()) }
      },
      {
        caller,
        body: analyticsQuery,
        response: dataReply(analyticsResult),
        detail: documented('queryAnalytics', 'Usage of the organization by metrics, dimensions and time', {
          description:
            'Computed from hourly sums. Amounts are USD, percents are fractions of 1; null: the divisor is zero.',
          errors: [408],
        }),
      },
    )
