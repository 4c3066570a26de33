import { Elysia, t } from 'elysia'
import type { Database } from '../../db/database.ts'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import { generation, generationQuery } from './schema.ts'
import { getGeneration } from './service.ts'

export const generationRoutes = (deps: CallerDeps & { database: Database }) =>
  new Elysia()
    .use(callerOption(deps))
    .get(
      '/generation',
      async ({ caller, query }) => ({ data: await getGeneration(deps.database, caller, query.id) }),
      {
        caller: 'any',
        query: generationQuery,
        response: { 200: t.Object({ data: generation }) },
        detail: operation({
          id: 'getGeneration',
          tag: 'Generations',
          summary: 'What a generation used and cost',
          description: 'Known as soon as the last byte of the reply has left, also after a restart.',
          errors: [400, 401, 402, 404, 429, 500, 502, 524, 529],
        }),
      },
    )
