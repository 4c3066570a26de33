import { Elysia, t } from 'elysia'
import { budget } from '../../../db/tables.ts'
import { type CallerDeps, callerOption } from '../../../http/caller.ts'
import { operationsOf } from '../../../http/operation.ts'
import { deleted, deletedReply, noQuery } from '../../../http/schemas.ts'
import type { ChangeDeps } from '../../change.ts'
import { workspaceParams } from '../../identity/workspaces/service.ts'
import { budgetBody, budgetParams, deleteBudget, getBudget, listBudgets, putBudget } from './service.ts'

const documented = operationsOf('Workspaces')
const includesByok = t.Boolean({ description: "Whether spending with the workspace's BYOK keys counts." })
const reply = { 200: t.Object({ data: budget.view, include_byok_in_budgets: includesByok }) }

export const budgetRoutes = (deps: ChangeDeps & CallerDeps) =>
  new Elysia()
    .use(callerOption(deps))
    .get('/workspaces/:id/budgets', ({ caller, params }) => listBudgets(deps, caller, params.id), {
      caller: 'management',
      params: workspaceParams,
      query: noQuery,
      response: { 200: t.Object({ data: t.Array(budget.view), include_byok_in_budgets: includesByok }) },
      detail: documented('listWorkspaceBudgets', 'List the budgets of a workspace'),
    })
    .get(
      '/workspaces/:id/budgets/:interval',
      ({ caller, params }) => getBudget(deps, caller, params.id, params.interval),
      {
        caller: 'management',
        params: budgetParams,
        response: reply,
        detail: documented('getWorkspaceBudget', 'Get the budget of an interval'),
      },
    )
    .put(
      '/workspaces/:id/budgets/:interval',
      ({ caller, actor, params, body }) => putBudget(deps, caller, actor, params.id, params.interval, body),
      {
        caller: 'management',
        params: budgetParams,
        body: budgetBody,
        response: reply,
        detail: documented('setWorkspaceBudget', 'Set the budget of an interval', {
          description: 'A longer interval must allow more: daily < weekly < monthly < lifetime.',
          errors: [409],
        }),
      },
    )
    .delete(
      '/workspaces/:id/budgets/:interval',
      ({ caller, actor, params }) => deleted(deleteBudget(deps, caller, actor, params.id, params.interval)),
      {
        caller: 'management',
        params: budgetParams,
        response: deletedReply,
        detail: documented('deleteWorkspaceBudget', 'Delete the budget of an interval', {
          description: 'The reply is the same without a budget.',
        }),
      },
    )
