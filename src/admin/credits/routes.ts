import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../http/caller.ts'
import { operation } from '../../http/operation.ts'
import { credits, creditsBody } from './schema.ts'
import { type CreditsDeps, getCredits, putCredits } from './service.ts'

const tag = 'Usage'
const caller = 'management'
const one = t.Object({ data: credits })

export const creditRoutes = (deps: CreditsDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/credits', async () => ({ data: await getCredits(deps) }), {
      caller,
      response: { 200: one },
      detail: operation({
        id: 'getCredits',
        tag,
        summary: 'What the organization may spend and has spent',
        description: 'The allowance that its operator set; there is none unless one was set.',
      }),
    })
    .put('/credits', async ({ actor, body }) => ({ data: await putCredits(deps, actor, body) }), {
      caller,
      body: creditsBody,
      response: { 200: one },
      detail: operation({
        id: 'putCredits',
        tag,
        summary: 'Set or lift the allowance of the organization',
        description:
          'Requests that could spend more than is left are refused with 402. Holds for the next request.',
      }),
    })
