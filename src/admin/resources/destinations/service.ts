import { type Static, Type } from '@sinclair/typebox'
import { and, eq, inArray, isNull } from 'drizzle-orm'
import type { Actor } from '../../../core/actor.ts'
import type { Caller } from '../../../core/caller.ts'
import { badRequest, conflict, notFound } from '../../../core/errors.ts'
import { newUuid } from '../../../core/ids.ts'
import { selectRows } from '../../../db/columns.ts'
import { type Database, type Db, unlessTaken } from '../../../db/database.ts'
import { newRow, storedOf, viewOf } from '../../../db/fields.ts'
import { destinationPlace, type Sealer } from '../../../db/seal.ts'
import { apiKeys, type DestinationRow, destination, destinations } from '../../../db/tables.ts'
import { beginCursor, endCursor } from '../../../delivery/cursors.ts'
import type { Delivery } from '../../../delivery/delivery.ts'
import {
  DESTINATION_TYPES,
  type DestinationConfig,
  type DestinationType,
  isDestinationType,
} from '../../../exporters/destination-types.ts'
import { inWorkspace, nullable } from '../../../http/schemas.ts'
import type { OutboundAllow } from '../../../net/address.ts'
import type { ChangeDeps } from '../../change.ts'
import { listing, listPage } from '../../list.ts'
import { createRow, deleteRow, findRow, updateRow } from '../../resource.ts'
import { workspaceOf } from '../../workspace-of.ts'
import { maskedConfig, readConfig } from './config.ts'
import { newSecret } from './new-secret.ts'
import { checkRules } from './rules.ts'

export interface DestinationDeps extends ChangeDeps {
  sealer: Sealer
  outboundAllow: OutboundAllow
  delivery: Pick<Delivery, 'bookOf' | 'flush' | 'resume' | 'discard' | 'replay'>
}

const types = Object.keys(DESTINATION_TYPES)
const type = Type.String({
  pattern: `^(?:${types.join('|')})$`,
  maxLength: 40,
  expects: `one of ${types.join(', ')}`,
  documented: { type: 'string', enum: types },
})
const config = Type.Record(Type.String(), Type.Unknown(), {
  description: 'Its fields by type; secrets are sealed at once and shown masked.',
})
const closed = { additionalProperties: false }
export const createBody = Type.Object({ ...destination.create.properties, type, config }, closed)
export const updateBody = Type.Object(
  { ...destination.update.properties, config: Type.Optional(config) },
  closed,
)
export const destinationReply = Type.Object({
  ...destination.view.properties,
  config: Type.Record(Type.String(), Type.Unknown(), { description: 'Secrets and headers are masked.' }),
  pause_reason: nullable(
    Type.String({
      description: 'Why nothing is delivered until the destination is changed or tested; null: not paused.',
    }),
  ),
})
/** Of the creation of a webhook: the secret is not shown again. */
export const createdReply = Type.Object({
  ...destinationReply.properties,
  signing_secret: Type.Optional(
    Type.String({
      description: 'Of webhooks, shown only here: events are signed with it (Standard Webhooks).',
    }),
  ),
})
type Destination = Static<typeof destinationReply>

/** Default order: of creation. */
export const destinationList = listing({
  rows: (db, where) => selectRows(db, destinations, where),
  sorts: [destinations.id, destinations.created_at, destinations.name, destinations.type],
  order: 'id',
  key: destinations.id,
  searched: [destinations.name, destinations.type],
  filters: inWorkspace,
})

export function listDestinations(
  deps: DestinationDeps,
  caller: Caller,
  query: Static<typeof destinationList.query>,
) {
  const workspaceId = query.workspace_id?.toLowerCase() ?? caller.workspace.id
  const where = eq(destinations.workspace_id, workspaceId)
  return listPage(deps.database, destinationList, query, where, (row) => viewWith(deps, row))
}

export const findDestination = (deps: DestinationDeps, id: string): Promise<DestinationRow> =>
  findRow(deps, destination, id.toLowerCase())

export const getDestination = async (deps: DestinationDeps, id: string): Promise<Destination> =>
  viewWith(deps, await findDestination(deps, id))

/** The config is sealed before it is stored, and stored nowhere else. */
export async function createDestination(
  deps: DestinationDeps,
  caller: Caller,
  actor: Actor,
  body: Static<typeof createBody>,
): Promise<Static<typeof createdReply>> {
  const workspaceId = workspaceOf(caller, body.workspace_id, deps.snapshot.current())
  const type = typeOf(body.type)
  const read = readConfig(type, body.config, deps.outboundAllow)
  const secret = type === 'webhook' ? newSecret() : null
  const config = secret === null ? read : { ...read, signing: [secret] }
  checkRules(body.filter_rules, body.privacy_mode === true)
  await requireKeys(deps.database, workspaceId, body.api_key_hashes)
  const [id, now] = [newUuid(), new Date(deps.now())]
  const row = newRow(destination, body, {
    id,
    workspace_id: workspaceId,
    type,
    sealed_config: sealed(deps, id, workspaceId, config),
    created_at: now,
    updated_at: now,
  })
  const further = (tx: Db) => [beginCursor(tx, id)]
  await unlessTaken(createRow(deps, actor, destination, row, { further }), 'name', taken)
  return { ...viewWith(deps, row), ...(secret && { signing_secret: secret.secret }) }
}

export async function updateDestination(
  deps: DestinationDeps,
  actor: Actor,
  id: string,
  { config, ...body }: Static<typeof updateBody>,
): Promise<Destination> {
  const row = await findDestination(deps, id)
  checkRules(
    body.filter_rules === undefined ? row.filter_rules : body.filter_rules,
    body.privacy_mode ?? row.privacy_mode,
  )
  await requireKeys(deps.database, row.workspace_id, body.api_key_hashes)
  const read = config && readConfig(typeOf(row.type), config, deps.outboundAllow, configOf(deps, row))
  const columns = {
    ...storedOf(destination, body),
    ...(read && { sealed_config: sealed(deps, row.id, row.workspace_id, read) }),
  }
  // The audit log names the fields of the config, not their values.
  const note = config && { changed_config: Object.keys(config) }
  const update = updateRow(deps, actor, destination, row, columns, { ...(note && { note }) })
  return viewWith(deps, await unlessTaken(update, 'name', taken))
}

/** Stores a config that is complete. The audit log names these fields of it. */
export const storeConfig = async (
  deps: DestinationDeps,
  actor: Actor,
  row: DestinationRow,
  config: DestinationConfig,
  changed: readonly string[],
): Promise<void> => {
  const columns = { sealed_config: sealed(deps, row.id, row.workspace_id, config) }
  await updateRow(deps, actor, destination, row, columns, { note: { changed_config: changed } })
}

const taken = () => conflict('name: this workspace has a destination of this name; take another')

export async function deleteDestination(deps: DestinationDeps, actor: Actor, id: string): Promise<void> {
  const row = await findDestination(deps, id)
  await deleteRow(deps, actor, destination, row, (tx) => [
    tx.delete(destinations).where(eq(destinations.id, row.id)),
    ...endCursor(tx, row.id),
  ])
}

/** Opens the config. Throws if the sealed value was changed or sealed with another secret key. */
export const configOf = ({ sealer }: DestinationDeps, row: DestinationRow): DestinationConfig =>
  JSON.parse(sealer.open(row.sealed_config, destinationPlace(row)))

export function typeOf(name: string): DestinationType {
  if (!isDestinationType(name)) throw badRequest('is not a type that this version knows', 'type')
  return name
}

const sealed = ({ sealer }: DestinationDeps, id: string, workspaceId: string, config: DestinationConfig) =>
  sealer.seal(JSON.stringify(config), destinationPlace({ id, workspace_id: workspaceId }))

const viewWith = (deps: DestinationDeps, row: DestinationRow): Destination => ({
  ...viewOf(destination, row),
  config: shownConfig(deps, row),
  pause_reason: pauseReason(deps, row.id),
})

function pauseReason({ delivery }: DestinationDeps, id: string): string | null {
  const book = delivery.bookOf(id)
  return book === undefined || book.row.paused_at === null ? null : (book.row.last_error ?? 'paused')
}

/** {} for a config that cannot be opened: one damaged value must not hide the others of a list. */
function shownConfig(deps: DestinationDeps, row: DestinationRow): Destination['config'] {
  try {
    return maskedConfig(typeOf(row.type), configOf(deps, row))
  } catch {
    return {}
  }
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
