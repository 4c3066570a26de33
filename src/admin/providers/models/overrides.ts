import { and, asc, eq } from 'drizzle-orm'
import { readOverrides } from '../../../catalog/override-schema.ts'
import type { OverrideSurroundings } from '../../../catalog/overrides.ts'
import { type ModelOverride, overrideProblems } from '../../../catalog/overrides.ts'
import type { Actor } from '../../../core/actor.ts'
import { badRequest, notFound } from '../../../core/errors.ts'
import type { JsonObject } from '../../../core/events.ts'
import { newUuid } from '../../../core/ids.ts'
import type { ConfigProblem } from '../../../core/problem.ts'
import type { EndpointRecord } from '../../../core/snapshot.ts'
import { type Database, isTaken } from '../../../db/database.ts'
import { modelOverrides } from '../../../db/tables.ts'
import { type ChangeDeps, change } from '../../change.ts'

type Row = typeof modelOverrides.$inferSelect

export interface OverrideDeps extends ChangeDeps {
  overrides: {
    /** Where names are looked up. */
    surroundings(): OverrideSurroundings
    /** Entries of the settings file, which hold before those that are stored. */
    readonly settings: readonly unknown[]
    /** Applies a change to the next request. */
    reroute(): void
    /** Sentences about prices that are far from the usual. */
    unusual(endpoints: readonly EndpointRecord[]): string[]
  }
}

/** An entry with its origin; entries of the settings have no id and cannot be changed here. */
export interface OverrideView {
  override_id: string | null
  origin: 'settings' | 'stored'
  entry: JsonObject
}

/** Stored entries for routing, which is built like the Snapshot: synchronously. */
export const storedOverrides = ({ sync }: Database, onUnusable: (why: string) => void): ModelOverride[] =>
  readable(sync.select().from(modelOverrides).orderBy(asc(modelOverrides.created_at)).all(), onUnusable)

/** Skips and reports entries that this version cannot read. */
function readable(rows: readonly Row[], onUnusable: (why: string) => void): ModelOverride[] {
  return rows.flatMap(({ id, entry }) => {
    const { overrides, problems } = readOverrides([entry])
    for (const { path, message } of problems) onUnusable(`model_overrides ${id}: ${path} ${message}`)
    return problems.length === 0 ? overrides : []
  })
}

/** In the order of their creation. */
const rowsOf = ({ db }: Database): Promise<Row[]> =>
  db.select().from(modelOverrides).orderBy(asc(modelOverrides.created_at))

/** Entries of the settings first. */
export async function listOverrides({ database, overrides }: OverrideDeps): Promise<OverrideView[]> {
  const rows = await rowsOf(database)
  return [
    ...overrides.settings.map((entry) => ({
      override_id: null,
      origin: 'settings' as const,
      entry: { ...Object(entry) },
    })),
    ...rows.map(viewOf),
  ]
}

/**
 * Stores the entry, replacing an earlier one of the same model (at the same provider). Throws a 400 that names each
 * wrong field.
 */
export async function putOverride(
  deps: OverrideDeps,
  actor: Actor,
  entry: JsonObject,
): Promise<OverrideView & { warnings: string[] }> {
  const { overrides, problems } = readOverrides([entry])
  const [override] = overrides
  const all = [
    ...problems,
    ...overrideProblems(overrides, deps.overrides.surroundings()),
    ...(override === undefined ? [] : await takenAliases(deps, override)),
  ]
  if (all.length > 0 || override === undefined) {
    throw badRequest(
      all.map(({ path, message }) => `${path.replace(/^models\[0\]\.?/, '')}: ${message}`).join('; '),
    )
  }
  const [model, provider] = [override.id, override.provider ?? '']
  const before = await find(deps.database, model, provider)
  const now = new Date(deps.now())
  const id = before?.id ?? newUuid()
  const row = { id, model, provider, entry, created_at: before?.created_at ?? now, updated_at: now }
  const changed = {
    action: before === undefined ? 'model.create' : 'model.update',
    resourceId: model,
    workspaceId: null,
    ...(before === undefined ? {} : { before: before.entry }),
    after: entry,
  } as const
  try {
    await change(deps, actor, changed, (tx) => [
      tx.insert(modelOverrides).values(row).onConflictDoUpdate({ target: modelOverrides.id, set: row }),
    ])
  } catch (thrown) {
    // Another request stored an entry of this model first: this one replaces it.
    if (before === undefined && isTaken(thrown, 'model')) return await putOverride(deps, actor, entry)
    throw thrown
  }
  deps.overrides.reroute()
  return { ...viewOf(row), warnings: warningsOf(deps, override) }
}

/** Aliases that an earlier entry gives to another model: this entry could not use them. */
async function takenAliases(
  { database, overrides, snapshot }: OverrideDeps,
  { place, id, provider, aliases }: ModelOverride,
): Promise<ConfigProblem[]> {
  const modelOf = (name: string): string => snapshot.current().models.find(name)?.id ?? name
  const others = [
    ...readOverrides([...overrides.settings]).overrides,
    ...readable(await rowsOf(database), () => undefined).filter(
      (one) => one.id !== id || one.provider !== provider,
    ),
  ]
  const owners = new Map(
    others.flatMap((one) => one.aliases.map((alias) => [alias.toLowerCase(), one.id] as const)),
  )
  return aliases.flatMap((alias, index) => {
    const owner = owners.get(alias.toLowerCase())
    if (owner === undefined || modelOf(owner) === modelOf(id)) return []
    return [{ path: `${place}.aliases[${index}]`, message: `"${alias}" is an alias of ${owner} already` }]
  })
}

/** Warns of unusual prices: a price per million is easily entered as one per token. */
function warningsOf(
  { overrides, snapshot }: OverrideDeps,
  { id, provider, endpoint }: ModelOverride,
): string[] {
  if (endpoint.pricing === undefined) return []
  const model = snapshot.current().models.find(id)
  const meant = model?.endpoints.filter((one) => provider === null || one.providerSlug === provider)
  return overrides.unusual(meant ?? [])
}

/** Restores the metadata of the catalogue. Throws a 404. */
export async function removeOverride(deps: OverrideDeps, actor: Actor, id: string): Promise<void> {
  const isIt = eq(modelOverrides.id, id)
  const [row] = await deps.database.db.select().from(modelOverrides).where(isIt)
  if (row === undefined) throw notFound('There is no stored entry with this id')
  const changed = {
    action: 'model.delete',
    resourceId: row.model,
    workspaceId: null,
    before: row.entry,
  } as const
  await change(deps, actor, changed, (tx) => [tx.delete(modelOverrides).where(isIt)])
  deps.overrides.reroute()
}

async function find(database: Database, model: string, provider: string): Promise<Row | undefined> {
  const isIt = and(eq(modelOverrides.model, model), eq(modelOverrides.provider, provider))
  const [row] = await database.db.select().from(modelOverrides).where(isIt)
  return row
}

const viewOf = ({ id, entry }: Pick<Row, 'id' | 'entry'>): OverrideView => ({
  override_id: id,
  origin: 'stored',
  entry,
})
