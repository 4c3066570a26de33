import { Elysia, t } from 'elysia'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { data } from '../../../http/schemas.ts'
import { credits, creditsBody } from './schema.ts'
import { type CreditsDeps, getCredits, putCredits } from './service.ts'

const documented = operationsOf('Usage')
const caller = 'management'
const one = t.Object({ data: credits })

export const creditRoutes = (deps: CreditsDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/credits', () => data(getCredits(deps)), {
      caller,
      response: { 200: one },
      detail: documented('getCredits', 'What the organization may spend and has spent', {
        description: 'The allowance, if its operator set one.',
      }),
    })
    .put('/credits', ({ actor, body }) => data(putCredits(deps, actor, body)), {
      caller,
      body: creditsBody,
      response: { 200: one },
      detail: documented('putCredits', 'Set or lift the allowance of the organization', {
        description:
          'Requests that could exceed the remaining allowance are a 402. Applies from the next request on.',
      }),
    })
