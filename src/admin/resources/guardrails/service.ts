import type { Static } from '@sinclair/typebox'
import { eq } from 'drizzle-orm'
import { RE2JS } from 're2js'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { selectRows } from '../../../db/columns.ts'
import type { ContentFilter, ContentFilterBuiltin } from '../../../db/content-filters.ts'
import { newRow, storedOf, viewOf } from '../../../db/fields.ts'
import { type GuardrailRow, guardrail, guardrails } from '../../../db/tables.ts'
import { checkStoredPlugins } from '../../../dialects/stored-plugins.ts'
import { inWorkspace } from '../../../http/schemas.ts'
import type { ChangeDeps } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { createRow, deleteRow, findRow, updateRow } from '../../resource.ts'
import { workspaceOf } from '../../workspace-of.ts'

type CreateBody = Static<typeof guardrail.create>
type UpdateBody = Static<typeof guardrail.update>
type Guardrail = Static<typeof guardrail.view>

export interface GuardrailDeps extends ChangeDeps {
  /** Whether the operator supplied a list of people's names to search for. */
  knowsNames: boolean
}

/** Default order: of creation. The workspace's default guardrail is the first. */
export const guardrailList = listing({
  rows: (db, where) => selectRows(db, guardrails, where),
  sorts: [guardrails.id, guardrails.created_at, guardrails.name],
  order: 'id',
  key: guardrails.id,
  searched: [guardrails.name, guardrails.description],
  filters: inWorkspace,
})

const view = (row: GuardrailRow): Guardrail => {
  const shown = viewOf(guardrail, row)
  return { ...shown, enforce_zdr: shown.enforce_zdr ?? false }
}

export function listGuardrails(deps: ChangeDeps, caller: Caller, query: Static<typeof guardrailList.query>) {
  const workspaceId = query.workspace_id?.toLowerCase() ?? caller.workspace.id
  return listPage(deps.database, guardrailList, query, eq(guardrails.workspace_id, workspaceId), view)
}

export const findGuardrail = (deps: Pick<ChangeDeps, 'database'>, id: string): Promise<GuardrailRow> =>
  findRow(deps, guardrail, id.toLowerCase())

export const getGuardrail = async (deps: ChangeDeps, id: string): Promise<Guardrail> =>
  view(await findGuardrail(deps, id))

/** It restricts nothing until it is assigned. */
export async function createGuardrail(
  deps: GuardrailDeps,
  caller: Caller,
  actor: Actor,
  body: CreateBody,
): Promise<Guardrail> {
  const row = newRow(guardrail, withVendorFlags(body), {
    id: newUuid(),
    workspace_id: workspaceOf(caller, body.workspace_id, deps.snapshot.current()),
    created_at: new Date(deps.now()),
  })
  checkFilters(body, deps.knowsNames)
  checkStoredPlugins(body.plugins)
  refuseHalfBudget(row)
  await createRow(deps, actor, guardrail, row)
  return view(row)
}

/** The change holds for the next request. */
export async function updateGuardrail(
  deps: GuardrailDeps,
  actor: Actor,
  id: string,
  body: UpdateBody,
): Promise<Guardrail> {
  const row = await findGuardrail(deps, id)
  const columns = storedOf(guardrail, withVendorFlags(body))
  checkFilters(body, deps.knowsNames)
  checkStoredPlugins(body.plugins)
  refuseHalfBudget({ ...row, ...columns })
  return view(await updateRow(deps, actor, guardrail, row, columns))
}

/** Its assignments go with it. A workspace's default guardrail exists as long as the workspace. */
export async function deleteGuardrail(deps: ChangeDeps, actor: Actor, id: string): Promise<void> {
  const row = await findGuardrail(deps, id)
  const workspace = deps.snapshot.current().workspacesById.get(row.workspace_id)
  if (workspace?.defaultGuardrailId === row.id) {
    throw badRequest('This is the default guardrail of its workspace: it can be changed, not deleted')
  }
  await deleteRow(deps, actor, guardrail, row)
}

/** The deprecated flag for all vendors sets each newer flag that the body leaves out. */
function withVendorFlags<Body extends UpdateBody>(body: Body): Body {
  const all = body.enforce_zdr
  if (all === undefined) return body
  return {
    enforce_zdr_anthropic: all,
    enforce_zdr_google: all,
    enforce_zdr_openai: all,
    enforce_zdr_other: all,
    enforce_zdr_xai: all,
    ...body,
  }
}

function refuseHalfBudget({ limit_nano_usd: limit, reset_interval: interval }: GuardrailRow): void {
  if (limit !== null && limit < 1) throw badRequest('must be at least a nano-dollar', 'limit_usd')
  if ((limit === null) === (interval === null)) return
  const [present, absent] = limit === null ? ['reset_interval', 'limit_usd'] : ['limit_usd', 'reset_interval']
  throw badRequest(`${present} is set and ${absent} is not: a budget has both, or neither is set`, absent)
}

interface Filters {
  content_filters?: readonly ContentFilter[] | null
  content_filter_builtins?: readonly ContentFilterBuiltin[] | null
}

/** Of all patterns together, once compiled: a repetition such as `.{1000}` is a thousand of them. */
const MOST_INSTRUCTIONS = 300_000

/** Throws a `GatewayError` 400 that names the filter that cannot work. `knowsNames`: there is a list of people. */
function checkFilters({ content_filters, content_filter_builtins }: Filters, knowsNames: boolean): void {
  let instructions = 0
  for (const [index, { pattern }] of (content_filters ?? []).entries()) {
    const read = readPattern(pattern)
    const path = `content_filters[${index}].pattern`
    if ('problem' in read) {
      throw badRequest(
        `invalid_regex_pattern: ${read.problem}. Patterns are in RE2 syntax: neither lookaround nor backreferences`,
        path,
      )
    }
    instructions += read.instructions
    if (instructions > MOST_INSTRUCTIONS) {
      throw badRequest(
        `the patterns up to this one compile to more than ${MOST_INSTRUCTIONS.toLocaleString('en')} instructions, the limit of a guardrail: repeat less`,
        path,
      )
    }
  }
  for (const [index, { slug, scan_scope, apply_to }] of (content_filter_builtins ?? []).entries()) {
    if (scan_scope === 'user_only' && apply_to === 'output') {
      throw badRequest(
        'user_only looks at what users wrote, and apply_to is output, which no user wrote: it would find nothing',
        `content_filter_builtins[${index}].scan_scope`,
      )
    }
    if (slug !== 'person-name' || knowsNames) continue
    throw badRequest(
      'person-name needs a list of names, which this gateway lacks: the operator sets a file of names with SLUICE_PERSON_NAMES. No pattern distinguishes names from other words',
      `content_filter_builtins[${index}].slug`,
    )
  }
}

function readPattern(pattern: string): { problem: string } | { instructions: number } {
  try {
    return { instructions: RE2JS.compile(pattern).programSize() }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'it cannot be read' }
  }
}
