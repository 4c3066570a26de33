import { and, count, eq, inArray, isNull, ne } from 'drizzle-orm'
import type { Actor } from '../../core/actor.ts'
import type { Caller } from '../../core/caller.ts'
import { badRequest, conflict, notFound } from '../../core/errors.ts'
import { newUuid } from '../../core/ids.ts'
import type { Database } from '../../db/database.ts'
import type { Sealer } from '../../db/seal.ts'
import { apiKeys, destinations } from '../../db/tables.ts'
import {
  type DestinationConfig,
  type DestinationType,
  isDestinationType,
} from '../../exporters/destination-types.ts'
import { pageOf } from '../../http/schemas.ts'
import type { OutboundAllow } from '../../net/address.ts'
import { type ChangeDeps, change, difference } from '../change.ts'
import { workspaceOf } from '../workspace-of.ts'
import { maskedConfig, readConfig } from './config.ts'
import { checkRules } from './rules.ts'
import { wholeRules } from './rules-schema.ts'
import {
  type CreateDestinationBody,
  type Destination,
  type DestinationRow,
  destinationSettings,
  destinationView,
  type ListDestinationsQuery,
  type UpdateDestinationBody,
} from './schema.ts'

export interface DestinationDeps extends ChangeDeps {
  sealer: Sealer
  outboundAllow: OutboundAllow
}

/** In the order of their making. */
export async function listDestinations(
  deps: DestinationDeps,
  caller: Caller,
  query: ListDestinationsQuery,
): Promise<{ data: Destination[]; total_count: number }> {
  const { db } = deps.database
  const workspaceId = query.workspace_id?.toLowerCase() ?? caller.workspace.id
  const listed = eq(destinations.workspace_id, workspaceId)
  const { limit, offset } = pageOf(query)
  const rows = await db
    .select()
    .from(destinations)
    .where(listed)
    .orderBy(destinations.id)
    .limit(limit)
    .offset(offset)
  const [total] = await db.select({ rows: count() }).from(destinations).where(listed)
  return { data: rows.map((row) => viewOf(deps, row)), total_count: total?.rows ?? 0 }
}

export const getDestination = async (deps: DestinationDeps, id: string): Promise<Destination> =>
  viewOf(deps, await findDestination(deps.database, id))

/** The config is sealed before it is stored, and stands in no other place. */
export async function createDestination(
  deps: DestinationDeps,
  caller: Caller,
  actor: Actor,
  { workspace_id, name, type, config, ...body }: CreateDestinationBody,
): Promise<Destination> {
  const workspaceId = workspaceOf(caller, workspace_id, deps.snapshot.current())
  const known = typeOf(type)
  const read = readConfig(known, config, deps.outboundAllow)
  checkRules(body.filter_rules)
  await requireKeys(deps.database, workspaceId, body.api_key_hashes)
  const [id, now] = [newUuid(), new Date(deps.now())]
  const row: DestinationRow = {
    ...DEFAULTS,
    ...columnsOf(body),
    id,
    workspace_id: workspaceId,
    name,
    type: known,
    sealed_config: sealed(deps, id, workspaceId, read),
    created_at: now,
    updated_at: now,
  }
  const made = {
    action: 'destination.create',
    resourceId: id,
    workspaceId,
    after: destinationSettings(row),
  } as const
  await change(deps, actor, made, (tx) => {
    refuseTaken(deps.database, row)
    return [tx.insert(destinations).values(row)]
  })
  return viewOf(deps, row)
}

export async function updateDestination(
  deps: DestinationDeps,
  actor: Actor,
  id: string,
  { name, config, ...body }: UpdateDestinationBody,
): Promise<Destination> {
  const row = await findDestination(deps.database, id)
  const type = typeOf(row.type)
  checkRules(body.filter_rules)
  await requireKeys(deps.database, row.workspace_id, body.api_key_hashes)
  const read = config && readConfig(type, config, deps.outboundAllow, configOf(deps, row))
  const columns: Partial<DestinationRow> = {
    ...columnsOf(body),
    ...(name === undefined ? {} : { name }),
    ...(read === undefined ? {} : { sealed_config: sealed(deps, row.id, row.workspace_id, read) }),
  }
  if (Object.keys(columns).length === 0) return viewOf(deps, row)
  const changed = { ...row, ...columns, updated_at: new Date(deps.now()) }
  const told = difference(destinationSettings(row), destinationSettings(changed))
  const update = {
    action: 'destination.update',
    resourceId: row.id,
    workspaceId: row.workspace_id,
    before: told.before,
    // Which fields of the config came, not what they are.
    after: { ...told.after, ...(config === undefined ? {} : { changed_config: Object.keys(config) }) },
  } as const
  await change(deps, actor, update, (tx) => {
    refuseTaken(deps.database, changed)
    return [
      tx
        .update(destinations)
        .set({ ...columns, updated_at: changed.updated_at })
        .where(eq(destinations.id, row.id)),
    ]
  })
  return viewOf(deps, changed)
}

export async function deleteDestination(deps: DestinationDeps, actor: Actor, id: string): Promise<void> {
  const row = await findDestination(deps.database, id)
  const gone = {
    action: 'destination.delete',
    resourceId: row.id,
    workspaceId: row.workspace_id,
    before: destinationSettings(row),
  } as const
  await change(deps, actor, gone, (tx) => [tx.delete(destinations).where(eq(destinations.id, row.id))])
}

export async function findDestination({ db }: Database, id: string): Promise<DestinationRow> {
  const [row] = await db.select().from(destinations).where(eq(destinations.id, id.toLowerCase()))
  if (row === undefined) throw notFound('There is no destination with this id')
  return row
}

/** Opened for use. Throws when the sealed value was changed or made with another secret key. */
export const configOf = (
  { sealer }: DestinationDeps,
  { id, workspace_id: workspaceId, sealed_config }: DestinationRow,
): DestinationConfig => JSON.parse(sealer.open(sealed_config, placeOf(id, workspaceId)))

export function typeOf(name: string): DestinationType {
  if (!isDestinationType(name)) throw badRequest('is not a type that this version knows', 'type')
  return name
}

const placeOf = (rowId: string, workspaceId: string) => ({
  table: 'observability_destinations',
  column: 'sealed_config',
  rowId,
  workspaceId,
})

const sealed = ({ sealer }: DestinationDeps, id: string, workspaceId: string, config: DestinationConfig) =>
  sealer.seal(JSON.stringify(config), placeOf(id, workspaceId))

const viewOf = (deps: DestinationDeps, row: DestinationRow): Destination =>
  destinationView(row, shownOf(deps, row))

/** One damaged value must not keep the others from being listed. */
function shownOf(deps: DestinationDeps, row: DestinationRow): Destination['config'] {
  try {
    return maskedConfig(typeOf(row.type), configOf(deps, row))
  } catch {
    return {}
  }
}

const DEFAULTS = {
  enabled: true,
  privacy_mode: false,
  sampling_rate: 1,
  api_key_hashes: null,
  filter_rules: null,
  regions: ['global'],
  broadcast_generation_cost: false,
  broadcast_generation_identity: false,
  broadcast_generation_request_context: false,
}

type Settings = Omit<UpdateDestinationBody, 'name' | 'config'>

function columnsOf({ regions, filter_rules: rules, ...body }: Settings): Partial<DestinationRow> {
  const columns: Partial<DestinationRow> = { ...body }
  if (regions !== undefined) {
    columns.regions = [...new Set(regions.map((region) => (region === 'eu' ? 'europe' : region)))]
  }
  if (rules !== undefined) columns.filter_rules = rules === null ? null : wholeRules(rules)
  return columns
}

async function requireKeys(
  { db }: Database,
  workspaceId: string,
  hashes: readonly string[] | null | undefined,
): Promise<void> {
  if (!hashes) return
  const isKnown = and(
    inArray(apiKeys.hash, [...hashes]),
    eq(apiKeys.workspace_id, workspaceId),
    isNull(apiKeys.deleted_at),
  )
  const rows = await db.select({ hash: apiKeys.hash }).from(apiKeys).where(isKnown)
  const known = new Set(rows.map(({ hash }) => hash))
  const at = hashes.findIndex((hash) => !known.has(hash))
  if (at >= 0) throw notFound(`api_key_hashes[${at}]: this workspace has no such API key`)
}

/** Inside the transaction, so that two at once cannot both find the name free. */
function refuseTaken({ sync }: Database, { id, name, workspace_id: workspaceId }: DestinationRow): void {
  const isTaken = and(
    eq(destinations.workspace_id, workspaceId),
    eq(destinations.name, name),
    ne(destinations.id, id),
  )
  if (sync.select({ id: destinations.id }).from(destinations).where(isTaken).get() === undefined) return
  throw conflict('name: this workspace has a destination of this name; take another')
}
