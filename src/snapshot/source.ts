import type { ByokKey } from '../core/byok.ts'
import type { KeyRecord, ProviderKind, Snapshot, WorkspaceRecord } from '../core/snapshot.ts'
import { type ChangedRows, type Part, watchRows } from '../db/changed-rows.ts'
import type { Database } from '../db/database.ts'
import type { Builtins } from '../filters/builtins/index.ts'
import { type ByokSecrets, createByokKeys } from './byok.ts'
import {
  guardrailsUnder,
  type HeldGuardrail,
  heldGuardrail,
  readGuardrails,
  readGuardrailsOfKeys,
  readGuardrailsOfMembers,
  type StoredGuardrail,
} from './guardrails.ts'
import { keysUnder, readKeys } from './keys.ts'
import { type PersistentMap, persistentMap } from './persistent-map.ts'
import { type PresetsOfWorkspace, readPresets } from './presets.ts'
import { createReach, type Reach, type Routing } from './routing.ts'
import { type Organization, readOrganization, readWorkspaces } from './workspaces.ts'

export type { Routing } from './routing.ts'

export interface SnapshotSource {
  /** The newest. A request takes it once and keeps it. */
  current(): Snapshot
  /**
   * Call after each committed write: reads the written rows again, and the next request sees them. Returns the workspaces
   * whose own rows, budgets or destinations were written.
   */
  applyChanges(): ReadonlySet<string>
  /** Call after providers were added or removed. */
  route(routing: Routing): void
}

/** The contents of the tables, each part by the id under which the database logs its changes. */
interface Tables {
  readonly organization: Organization
  readonly workspaces: PersistentMap<WorkspaceRecord>
  readonly keys: PersistentMap<KeyRecord>
  readonly guardrails: PersistentMap<StoredGuardrail>
  readonly guardrailOfKey: PersistentMap<string>
  readonly guardrailOfMember: PersistentMap<string>
  readonly presets: PersistentMap<PresetsOfWorkspace>
  readonly byokKeys: PersistentMap<readonly ByokKey[]>
}

/** Computed from several tables together. */
interface Derived {
  readonly reach: Reach
  readonly held: PersistentMap<HeldGuardrail>
  readonly byokKeys: PersistentMap<readonly ByokKey[]>
  /** Keys with their guardrails and rates, under these policies. */
  readonly completeKeys: WeakMap<KeyRecord, KeyRecord>
}

/**
 * Reads the tables once now. Throws when the database has no organisation yet (the first run makes it). Without
 * `secrets` there are no provider keys of workspaces; `filterBuiltins` are the built-in content filters, if not the
 * usual ones. `exportsAll`: generations of all workspaces are exported, not of those with destinations alone.
 *
 * Guarantee: a Snapshot never changes. `applyChanges` runs in one go, after the commit and before anything else, so the
 * next request sees all of a transaction or, if it failed, nothing of it. Its cost depends on the rows that were written,
 * not on the size of the tables.
 */
export function createSnapshotSource(
  database: Database,
  routing: Routing,
  secrets?: ByokSecrets,
  filterBuiltins?: Builtins,
  exportsAll = false,
): SnapshotSource {
  const openByokKeys = secrets && createByokKeys(database, secrets)
  const written = watchRows(database)
  let kinds = kindsOf(routing)
  let reachOf = createReach(routing)

  const reader: Reader = {
    database,
    filterBuiltins,
    exportsAll,
    readByokKeys: (workspaceIds) => openByokKeys?.((slug) => kinds.get(slug), workspaceIds) ?? [],
  }
  let tables = readTables(reader)
  let derived = derive(tables, { reachOf, tables, derived: null }, new Map())
  let latest = assembled(1, tables, derived)
  return {
    current: () => latest,
    applyChanges() {
      const changed = written.read()
      if (changed.size === 0) return NO_IDS
      const next = changedTables(reader, tables, changed)
      derived = derive(next, { reachOf, tables, derived }, changed)
      tables = next
      latest = assembled(latest.version + 1, tables, derived)
      written.forget()
      return changed.get('workspace') ?? NO_IDS
    },
    route(routing) {
      kinds = kindsOf(routing)
      reachOf = createReach(routing)
      const next = { ...tables, byokKeys: persistentMap(reader.readByokKeys()) }
      derived = derive(next, { reachOf, tables, derived: null }, new Map())
      tables = next
      latest = assembled(latest.version + 1, tables, derived)
    },
  }
}

const NO_IDS: ReadonlySet<string> = new Set()

interface Reader {
  readonly database: Database
  readonly filterBuiltins: Builtins | undefined
  readonly exportsAll: boolean
  readByokKeys(workspaceIds?: readonly string[]): Iterable<[string, readonly ByokKey[]]>
}

function readTables({ database, filterBuiltins, exportsAll, readByokKeys }: Reader): Tables {
  const organization = readOrganization(database)
  return {
    organization,
    workspaces: persistentMap(readWorkspaces(database, organization, exportsAll)),
    keys: persistentMap(readKeys(database)),
    guardrails: persistentMap(readGuardrails(database, undefined, filterBuiltins)),
    guardrailOfKey: persistentMap(readGuardrailsOfKeys(database)),
    guardrailOfMember: persistentMap(readGuardrailsOfMembers(database)),
    presets: persistentMap(readPresets(database)),
    byokKeys: persistentMap(readByokKeys()),
  }
}

/** The tables with the rows read again that were written. */
function changedTables(
  { database, filterBuiltins, exportsAll, readByokKeys }: Reader,
  tables: Tables,
  changed: ChangedRows,
): Tables {
  const of = (...parts: Part[]) => new Set(parts.flatMap((part) => [...(changed.get(part) ?? [])]))
  const organization = changed.has('organization') ? readOrganization(database) : tables.organization
  const isSameAllowance = organization.allowance_nano_usd === tables.organization.allowance_nano_usd
  return {
    organization,
    workspaces: isSameAllowance
      ? reread(tables.workspaces, of('workspace'), (ids) =>
          readWorkspaces(database, organization, exportsAll, ids),
        )
      : persistentMap(readWorkspaces(database, organization, exportsAll)),
    // A key with another guardrail is another record, so that everything derived of the old one is dropped.
    keys: reread(tables.keys, of('key', 'guardrail-of-key'), (ids) => readKeys(database, ids)),
    guardrails: reread(tables.guardrails, of('guardrail'), (ids) =>
      readGuardrails(database, tables.guardrails, filterBuiltins, ids),
    ),
    guardrailOfKey: reread(tables.guardrailOfKey, of('guardrail-of-key'), (ids) =>
      readGuardrailsOfKeys(database, ids),
    ),
    guardrailOfMember: reread(tables.guardrailOfMember, of('guardrail-of-member'), (ids) =>
      readGuardrailsOfMembers(database, ids),
    ),
    presets: reread(tables.presets, of('presets-of-workspace'), (ids) => readPresets(database, ids)),
    byokKeys: reread(tables.byokKeys, of('own-keys-of-workspace'), readByokKeys),
  }
}

interface Deriving {
  readonly reachOf: ReturnType<typeof createReach>
  readonly tables: Tables
  /** Derived from `tables`; null: nothing of it can be reused. */
  readonly derived: Derived | null
}

/** Derives from `next`, and reuses what did not change. */
function derive(next: Tables, { reachOf, tables, derived: former }: Deriving, changed: ChangedRows): Derived {
  const reach = reachOf(next.byokKeys)
  const kept = former?.reach === reach ? former : null
  const held = remade(next.guardrails, kept?.held, changed.get('guardrail'), (stored) =>
    heldGuardrail(stored, reach.named),
  )
  const byokKeys = remade(next.byokKeys, kept?.byokKeys, changed.get('own-keys-of-workspace'), (own) =>
    own.map((key) => ({ ...key, allowedModels: reach.named.models(key.allowedModels) })),
  )
  const arePoliciesSame =
    held === kept?.held &&
    next.workspaces === tables.workspaces &&
    next.guardrailOfMember === tables.guardrailOfMember
  const completeKeys = arePoliciesSame ? kept.completeKeys : new WeakMap<KeyRecord, KeyRecord>()
  return { reach, held, byokKeys, completeKeys }
}

function assembled(
  version: number,
  { organization, workspaces, keys, presets, guardrailOfKey, guardrailOfMember }: Tables,
  { reach, held, byokKeys, completeKeys }: Derived,
): Snapshot {
  const guardrailsOf = guardrailsUnder(held, guardrailOfKey, guardrailOfMember)
  const [first] = workspaces.values()
  return {
    version,
    organizationId: organization.id,
    defaultWorkspaceId: organization.default_workspace_id ?? first?.id ?? '',
    keysByHash: keysUnder(keys, { workspaces, guardrailsOf }, completeKeys),
    workspacesById: workspaces,
    presets,
    ...reach.fields,
    ...(byokKeys.size > 0 && { byokKeys }),
  }
}

const kindsOf = ({ providers }: Routing): ReadonlyMap<string, ProviderKind> =>
  new Map(providers.map(({ slug, kind }) => [slug, kind]))

/** SQLite takes 32,766 parameters. */
const IDS_OF_QUERY = 500

/** The map with these ids read again; those that no longer exist are removed. */
function reread<Value>(
  map: PersistentMap<Value>,
  ids: ReadonlySet<string>,
  read: (ids: readonly string[]) => Iterable<readonly [string, Value]>,
): PersistentMap<Value> {
  if (ids.size === 0) return map
  const all = [...ids]
  const changes = new Map<string, Value | undefined>(all.map((id) => [id, undefined]))
  for (let at = 0; at < all.length; at += IDS_OF_QUERY) {
    for (const [id, value] of read(all.slice(at, at + IDS_OF_QUERY))) changes.set(id, value)
  }
  return map.with(changes)
}

/** Maps each entry of `source`; reuses those of `former` that did not change. */
function remade<From, To>(
  source: PersistentMap<From>,
  former: PersistentMap<To> | undefined,
  changed: ReadonlySet<string> | undefined,
  make: (from: From) => To,
): PersistentMap<To> {
  if (former === undefined) return persistentMap([...source.entries()].map(([id, from]) => [id, make(from)]))
  if (changed === undefined) return former
  return former.with(
    new Map(
      [...changed].map((id) => {
        const from = source.get(id)
        return [id, from && make(from)]
      }),
    ),
  )
}
