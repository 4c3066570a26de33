import { count, eq } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import type { Caller } from '../../core/caller.ts'
import { badRequest, notFound } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import { nanoUsdOf } from '../../core/money.ts'
import type { Database } from '../../db/database.ts'
import { guardrails } from '../../db/tables.ts'
import { pageOf } from '../../http/schemas.ts'
import { type ChangeDeps, change, difference } from '../change.ts'
import { rateLimitsOf } from '../rate-limits.ts'
import { workspaceOf } from '../workspace-of.ts'
import { checkFilters } from './filters.ts'
import {
  type CreateGuardrailBody,
  type Guardrail,
  type GuardrailRow,
  guardrailSettings,
  guardrailView,
  type ListGuardrailsQuery,
  type UpdateGuardrailBody,
} from './schema.ts'

/** In the order of their making; the workspace's default guardrail is the first. */
export async function listGuardrails(
  { database: { db } }: ChangeDeps,
  caller: Caller,
  query: ListGuardrailsQuery,
): Promise<{ data: Guardrail[]; total_count: number }> {
  const workspaceId = query.workspace_id?.toLowerCase() ?? caller.workspace.id
  const listed = eq(guardrails.workspace_id, workspaceId)
  const { limit, offset } = pageOf(query)
  const rows = await db
    .select()
    .from(guardrails)
    .where(listed)
    .orderBy(guardrails.id)
    .limit(limit)
    .offset(offset)
  const [total] = await db.select({ guardrails: count() }).from(guardrails).where(listed)
  return { data: rows.map(guardrailView), total_count: total?.guardrails ?? 0 }
}

export const getGuardrail = async ({ database }: ChangeDeps, id: string): Promise<Guardrail> =>
  guardrailView(await findGuardrail(database, id))

export interface GuardrailDeps extends ChangeDeps {
  /** Whether there is a list of names of people to look for. */
  knowsNames: boolean
}

/** It restricts nothing until it is assigned. */
export async function createGuardrail(
  deps: GuardrailDeps,
  caller: Caller,
  actor: Actor,
  { workspace_id, ...body }: CreateGuardrailBody,
): Promise<Guardrail> {
  const workspaceId = workspaceOf(caller, workspace_id, deps.snapshot.current())
  const row: GuardrailRow = {
    ...UNRESTRICTED,
    ...columnsOf(body),
    id: newUuid(),
    workspace_id: workspaceId,
    name: body.name,
    created_at: new Date(deps.now()),
    updated_at: null,
  }
  checkFilters(body, deps.knowsNames)
  refuseHalfBudget(row)
  const made = {
    action: 'guardrail.create',
    resourceId: row.id,
    workspaceId,
    after: guardrailSettings(row),
  } as const
  await change(deps, actor, made, (tx) => [tx.insert(guardrails).values(row)])
  return guardrailView(row)
}

/** The change holds for the next request. */
export async function updateGuardrail(
  deps: GuardrailDeps,
  actor: Actor,
  id: string,
  body: UpdateGuardrailBody,
): Promise<Guardrail> {
  const row = await findGuardrail(deps.database, id)
  if (Object.keys(body).length === 0) return guardrailView(row)
  const columns = columnsOf(body)
  const changed: GuardrailRow = { ...row, ...columns, updated_at: new Date(deps.now()) }
  checkFilters(body, deps.knowsNames)
  refuseHalfBudget(changed)
  const update = {
    action: 'guardrail.update',
    resourceId: row.id,
    workspaceId: row.workspace_id,
    ...difference(guardrailSettings(row), guardrailSettings(changed)),
  } as const
  await change(deps, actor, update, (tx) => [
    tx
      .update(guardrails)
      .set({ ...columns, updated_at: changed.updated_at })
      .where(eq(guardrails.id, row.id)),
  ])
  return guardrailView(changed)
}

/** Its assignments go with it. The default guardrail of a workspace stays as long as the workspace. */
export async function deleteGuardrail(deps: ChangeDeps, actor: Actor, id: string): Promise<void> {
  const row = await findGuardrail(deps.database, id)
  const workspace = deps.snapshot.current().workspacesById.get(row.workspace_id)
  if (workspace?.defaultGuardrailId === row.id) {
    throw badRequest('This is the default guardrail of its workspace: it can be changed, not deleted')
  }
  const gone = {
    action: 'guardrail.delete',
    resourceId: row.id,
    workspaceId: row.workspace_id,
    before: guardrailSettings(row),
  } as const
  await change(deps, actor, gone, (tx) => [tx.delete(guardrails).where(eq(guardrails.id, row.id))])
}

export async function findGuardrail({ db }: Database, id: string): Promise<GuardrailRow> {
  const [row] = await db.select().from(guardrails).where(eq(guardrails.id, id.toLowerCase()))
  if (row === undefined) throw notFound('There is no guardrail with this id')
  return row
}

const UNRESTRICTED = {
  description: null,
  allowed_models: null,
  ignored_models: null,
  allowed_providers: null,
  ignored_providers: null,
  allowed_data_regions: null,
  content_filter_builtins: null,
  content_filters: null,
  enable_free_model_publication: null,
  enable_free_model_training: null,
  enable_paid_model_training: null,
  enforce_zdr: null,
  enforce_zdr_anthropic: null,
  enforce_zdr_google: null,
  enforce_zdr_openai: null,
  enforce_zdr_other: null,
  enforce_zdr_xai: null,
  include_byok_in_budgets: false,
  limit_nano_usd: null,
  reset_interval: null,
  rate_limits: null,
} as const

const VENDOR_FLAGS = [
  'enforce_zdr_anthropic',
  'enforce_zdr_google',
  'enforce_zdr_openai',
  'enforce_zdr_other',
  'enforce_zdr_xai',
] as const

/** The older flag for all vendors stands for each of the newer ones that the body does not name. */
function columnsOf({
  limit_usd: limit,
  rate_limits: rates,
  ...body
}: UpdateGuardrailBody): Partial<GuardrailRow> {
  const columns: Partial<GuardrailRow> = { ...body }
  if (rates !== undefined) columns.rate_limits = rateLimitsOf(rates)
  if (limit !== undefined) columns.limit_nano_usd = limit === null ? null : nanoUsdOf(limit)
  if (body.enforce_zdr !== undefined) {
    for (const flag of VENDOR_FLAGS) columns[flag] = body[flag] === undefined ? body.enforce_zdr : body[flag]
  }
  return columns
}

function refuseHalfBudget({ limit_nano_usd: limit, reset_interval: interval }: GuardrailRow): void {
  if (limit !== null && limit < 1) throw badRequest('must be at least a nano-dollar', 'limit_usd')
  if ((limit === null) === (interval === null)) return
  const [present, absent] = limit === null ? ['reset_interval', 'limit_usd'] : ['limit_usd', 'reset_interval']
  throw badRequest(`${present} is set and ${absent} is not: a budget has both, or neither is set`, absent)
}
