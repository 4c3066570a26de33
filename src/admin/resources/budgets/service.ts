import { type Static, Type } from '@sinclair/typebox'
import { and, eq, gte, inArray, lte, notExists, or } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest, conflict, notFound } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { nanoUsdOf, usdOf } from '../../../core/money.ts'
import { selectRows } from '../../../db/columns.ts'
import { type Database, type Db, mustChange, requireThat, unlessTaken } from '../../../db/database.ts'
import { viewOf } from '../../../db/fields.ts'
import { wordOf } from '../../../db/kinds.ts'
import {
  type BudgetInterval,
  type BudgetRow,
  budget,
  type WorkspaceRow,
  workspaceBudgets,
  workspaces,
} from '../../../db/tables.ts'
import { type ChangeDeps, change } from '../../change.ts'
import { findWorkspace, workspaceParams } from '../../identity/workspaces/service.ts'

/** From the shortest to the longest: a longer one must allow more. */
const INTERVALS = ['daily', 'weekly', 'monthly', 'lifetime'] as const

export const budgetParams = Type.Object({
  ...workspaceParams.properties,
  interval: wordOf(INTERVALS, {
    description: 'When it resets: at 00:00 UTC, weeks on Monday, months on the 1st; lifetime: never.',
  }),
})
export const budgetBody = Type.Object(
  {
    ...budget.create.properties,
    include_byok_in_budgets: Type.Optional(
      Type.Boolean({ description: 'For all budgets of the workspace; unchanged if it is omitted.' }),
    ),
  },
  { additionalProperties: false },
)

type Budget = Static<typeof budget.view>
const view = (row: BudgetRow): Budget => viewOf(budget, row)

interface BudgetReply {
  data: Budget
  include_byok_in_budgets: boolean
}

/** From daily to lifetime. */
export async function listBudgets(
  { database }: ChangeDeps,
  caller: Caller,
  id: string,
): Promise<{ data: Budget[]; include_byok_in_budgets: boolean }> {
  const workspace = await findWorkspace({ database }, caller, id)
  const rows = await budgetsOf(database, workspace.id)
  return { data: rows.map(view), include_byok_in_budgets: workspace.include_byok_in_budgets }
}

export async function getBudget(
  { database }: ChangeDeps,
  caller: Caller,
  id: string,
  interval: BudgetInterval,
): Promise<BudgetReply> {
  const workspace = await findWorkspace({ database }, caller, id)
  const row = (await budgetsOf(database, workspace.id)).find((each) => each.interval === interval)
  if (row === undefined) throw notFound(`The workspace has no ${interval} budget`)
  return { data: view(row), include_byok_in_budgets: workspace.include_byok_in_budgets }
}

/** Makes or changes the budget of an interval. The change holds for the next request. */
export async function putBudget(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  id: string,
  interval: BudgetInterval,
  body: Static<typeof budgetBody>,
): Promise<BudgetReply> {
  const workspace = await findWorkspace(deps, caller, id)
  const rows = await budgetsOf(deps.database, workspace.id)
  const former = rows.find((each) => each.interval === interval)
  const now = new Date(deps.now())
  const row: BudgetRow = {
    id: former?.id ?? newUuid(),
    workspace_id: workspace.id,
    interval,
    limit_nano_usd: nanoUsdOf(body.limit_usd),
    created_at: former?.created_at ?? now,
    updated_at: now,
  }
  if (row.limit_nano_usd < 1) throw badRequest('must be at least a nano-dollar', 'limit_usd')
  const includes = body.include_byok_in_budgets ?? workspace.include_byok_in_budgets
  const settings = { interval, limit_usd: usdOf(row.limit_nano_usd), include_byok_in_budgets: includes }
  const set = {
    action: 'budget.set',
    resourceId: row.id,
    workspaceId: workspace.id,
    ...(former === undefined ? {} : { before: { ...settings, ...beforeOf(former, workspace) } }),
    after: settings,
  } as const
  refuseDisorder([...rows.filter((each) => each.interval !== interval), row])
  const setting = change(deps, actor, set, (tx) => [
    requireThat(tx, notExists(disorderly(tx, row)), setMeanwhile),
    former === undefined
      ? tx.insert(workspaceBudgets).values(row)
      : mustChange(tx.update(workspaceBudgets).set(row).where(eq(workspaceBudgets.id, row.id)), setMeanwhile),
    ...(body.include_byok_in_budgets === undefined
      ? []
      : [
          tx
            .update(workspaces)
            .set({ include_byok_in_budgets: includes })
            .where(eq(workspaces.id, workspace.id)),
        ]),
  ])
  await unlessTaken(setting, 'interval', setMeanwhile)
  return { data: view(row), include_byok_in_budgets: includes }
}

const setMeanwhile = () =>
  conflict('Another request set a budget of this workspace at the same time: read them and try again')

const beforeOf = (row: BudgetRow, workspace: WorkspaceRow) => ({
  limit_usd: usdOf(row.limit_nano_usd),
  include_byok_in_budgets: workspace.include_byok_in_budgets,
})

/** Idempotent: deleting an absent budget succeeds. */
export async function deleteBudget(
  deps: ChangeDeps,
  caller: Caller,
  actor: Actor,
  id: string,
  interval: BudgetInterval,
): Promise<void> {
  const workspace = await findWorkspace(deps, caller, id)
  const row = (await budgetsOf(deps.database, workspace.id)).find((each) => each.interval === interval)
  if (row === undefined) return
  const gone = {
    action: 'budget.delete',
    resourceId: row.id,
    workspaceId: workspace.id,
    before: { interval, ...beforeOf(row, workspace) },
  } as const
  await change(deps, actor, gone, (tx) => [
    tx
      .delete(workspaceBudgets)
      .where(and(eq(workspaceBudgets.workspace_id, workspace.id), eq(workspaceBudgets.interval, interval))),
  ])
}

async function budgetsOf({ db }: Database, workspaceId: string): Promise<BudgetRow[]> {
  const rows = await selectRows(db, workspaceBudgets, eq(workspaceBudgets.workspace_id, workspaceId))
  return rows.sort(byInterval)
}

const byInterval = (a: BudgetRow, b: BudgetRow): number =>
  INTERVALS.indexOf(a.interval) - INTERVALS.indexOf(b.interval)

/** Budgets in conflict with this one: shorter ones that are not smaller, and longer ones that are not larger. */
function disorderly(db: Db, { workspace_id, interval, limit_nano_usd: limit }: BudgetRow) {
  const at = INTERVALS.indexOf(interval)
  const [shorter, longer] = [INTERVALS.slice(0, at), INTERVALS.slice(at + 1)]
  const { interval: column, limit_nano_usd: amount } = workspaceBudgets
  return db
    .select({ id: workspaceBudgets.id })
    .from(workspaceBudgets)
    .where(
      and(
        eq(workspaceBudgets.workspace_id, workspace_id),
        or(
          and(inArray(column, shorter), gte(amount, limit)),
          and(inArray(column, longer), lte(amount, limit)),
        ),
      ),
    )
}

/** A budget that a longer one does not exceed could never be reached. */
function refuseDisorder(rows: readonly BudgetRow[]): void {
  const sorted = rows.toSorted(byInterval)
  for (const [index, shorter] of sorted.entries()) {
    const longer = sorted[index + 1]
    if (longer === undefined || shorter.limit_nano_usd < longer.limit_nano_usd) continue
    throw badRequest(
      `the ${longer.interval} budget (USD ${usdOf(longer.limit_nano_usd)}) must be larger than the ${shorter.interval} one (USD ${usdOf(shorter.limit_nano_usd)})`,
      'limit_usd',
    )
  }
}
