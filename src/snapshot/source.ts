import { eq, isNull } from 'drizzle-orm'
import { rateGatesOf } from '../core/rate-limits.ts'
import type {
  KeyRecord,
  ModelDirectory,
  PresetRecord,
  ProviderRecord,
  Snapshot,
  WorkspaceRecord,
} from '../core/snapshot.ts'
import type { Database } from '../db/database.ts'
import {
  apiKeys,
  organizations,
  presets,
  presetVersions,
  workspaceBudgets,
  workspaces,
} from '../db/tables.ts'
import type { Builtins } from '../filters/builtins/index.ts'
import { type GuardrailsOf, readGuardrails } from './guardrails.ts'
import { type Named, namedBy } from './named.ts'
import { createOwnKeys, type OwnKeySecrets, type ReadOwnKeys } from './own-keys.ts'

/** The part of a Snapshot that comes from settings and discovery, not from tables. */
export interface Routing {
  readonly providers: readonly ProviderRecord[]
  readonly models: ModelDirectory
  /** Where lists show more than what can be called. */
  readonly shown?: Shown
  /** The same with those vendors of these slugs that could be called too, had they a credential; absent: with none. */
  brought?(slugs: readonly string[]): Shown
}

interface Shown {
  readonly providers: readonly ProviderRecord[]
  readonly models: ModelDirectory
}

export interface SnapshotSource {
  /** The newest. A request takes it once and keeps it. */
  current(): Snapshot
  /** After each write to keys or workspaces: the next request sees it. */
  rebuild(): void
  /** After providers came or went. */
  route(routing: Routing): void
}

/**
 * Reads the tables once now. Throws when the database has no organisation yet (the first run makes it). Without
 * `secrets` there are no provider keys of workspaces; `filterBuiltins` are the built-in content filters where there are
 * more than usual.
 */
export function createSnapshotSource(
  database: Database,
  routing: Routing,
  secrets?: OwnKeySecrets,
  filterBuiltins?: Builtins,
): SnapshotSource {
  let version = 1
  const readOwnKeys = secrets && createOwnKeys(database, secrets)
  let wider = createWider()
  let latestRouting = routing
  const made = (): Snapshot => build(database, latestRouting, version, { readOwnKeys, wider, filterBuiltins })
  let latest = made()
  const rebuild = (): void => {
    version += 1
    latest = made()
  }
  return {
    current: () => latest,
    rebuild,
    route(changed) {
      latestRouting = changed
      wider = createWider()
      rebuild()
    },
  }
}

/** What own keys of these providers make callable besides; undefined: nothing. */
type Wider = (routing: Routing, slugs: readonly string[]) => Snapshot['brought']

/** A directory is made anew only when other providers are brought along. */
function createWider(): Wider {
  let made: { readonly names: string; readonly brought: Snapshot['brought'] } | undefined
  return (routing, slugs) => {
    const known = new Set(routing.providers.map(({ slug }) => slug))
    const further = [...new Set(slugs)].filter((slug) => !known.has(slug)).toSorted()
    const names = further.join()
    if (made?.names === names) return made.brought
    const all = further.length === 0 ? undefined : routing.brought?.(further)
    const isMore = all !== undefined && all.providers.length > known.size
    made = {
      names,
      brought: isMore ? { providersBySlug: bySlug(all.providers), models: all.models } : undefined,
    }
    return made.brought
  }
}

const namesIn = ({ models, providers }: Routing, brought: Snapshot['brought']): Named =>
  namedBy(brought === undefined ? [models] : [models, brought.models], [
    ...providers,
    ...(brought?.providersBySlug.values() ?? []),
  ])

function ownKeysOf(
  routing: Routing,
  read: ReadOwnKeys | undefined,
  wider: Wider,
): Pick<Snapshot, 'ownKeys' | 'brought'> {
  const kinds = new Map(routing.providers.map(({ slug, kind }) => [slug, kind]))
  const found = read?.((slug) => kinds.get(slug))
  if (found === undefined || found.size === 0) return {}
  const slugs = [...found.values()].flatMap((own) => own.map(({ providerSlug }) => providerSlug))
  const brought = wider(routing, slugs)
  const named = namesIn(routing, brought)
  const ownKeys = new Map(
    [...found].map(([workspaceId, own]) => [
      workspaceId,
      own.map((key) => ({ ...key, allowedModels: named.models(key.allowedModels) })),
    ]),
  )
  return { ownKeys, ...(brought === undefined ? {} : { brought }) }
}

interface Reading {
  readonly readOwnKeys: ReadOwnKeys | undefined
  readonly wider: Wider
  readonly filterBuiltins: Builtins | undefined
}

function build(
  database: Database,
  routing: Routing,
  version: number,
  { readOwnKeys, wider, filterBuiltins }: Reading,
): Snapshot {
  const organization = database.sync.select().from(organizations).get()
  if (!organization) throw new Error('the database has no organisation')
  const keys = database.sync.select().from(apiKeys).where(isNull(apiKeys.deleted_at)).all()
  const spaces = database.sync.select().from(workspaces).where(isNull(workspaces.deleted_at)).all()
  const workspacesById = workspacesOf(database, spaces, organization)
  const own = ownKeysOf(routing, readOwnKeys, wider)
  const named = namesIn(routing, own.brought)
  return {
    version,
    organizationId: organization.id,
    defaultWorkspaceId: organization.default_workspace_id ?? spaces[0]?.id ?? '',
    keysByHash: keysOf(keys, workspacesById, readGuardrails(database, named, filterBuiltins)),
    workspacesById,
    presets: presetsOf(database),
    providersBySlug: bySlug(routing.providers),
    models: routing.models,
    ...own,
    ...(routing.shown === undefined
      ? {}
      : { shown: { models: routing.shown.models, providersBySlug: bySlug(routing.shown.providers) } }),
  }
}

const bySlug = (providers: readonly ProviderRecord[]): ReadonlyMap<string, ProviderRecord> =>
  new Map(providers.map((provider) => [provider.slug, provider]))

function keysOf(
  keys: readonly (typeof apiKeys.$inferSelect)[],
  workspacesById: Snapshot['workspacesById'],
  guardrailsOf: GuardrailsOf,
): ReadonlyMap<string, KeyRecord> {
  return new Map(
    keys.map((row) => {
      const record = keyRecord(row)
      const workspace = workspacesById.get(row.workspace_id)
      const guardrails = guardrailsOf(record, workspace?.defaultGuardrailId ?? '')
      const rateGates = rateGatesOf(record, guardrails, workspace)
      if (guardrails.length === 0 && rateGates.length === 0) return [row.hash, record]
      return [
        row.hash,
        {
          ...record,
          ...(guardrails.length > 0 && { guardrails }),
          ...(rateGates.length > 0 && { rateGates }),
        },
      ]
    }),
  )
}

function workspacesOf(
  { sync }: Database,
  spaces: readonly (typeof workspaces.$inferSelect)[],
  { id: organizationId, allowance_nano_usd: limitNanoUsd }: typeof organizations.$inferSelect,
): ReadonlyMap<string, WorkspaceRecord> {
  const allowance = limitNanoUsd === null ? {} : { allowance: { organizationId, limitNanoUsd } }
  const rows = sync.select().from(workspaceBudgets).all()
  return new Map(
    spaces.map((space) => {
      const own = rows.filter((row) => row.workspace_id === space.id)
      const budgets = own.map(({ interval, limit_nano_usd }) => ({
        interval,
        limitNanoUsd: limit_nano_usd,
        includeByok: space.include_byok_in_budgets,
      }))
      return [
        space.id,
        { ...workspaceRecord(space), ...allowance, ...(budgets.length === 0 ? {} : { budgets }) },
      ]
    }),
  )
}

function presetsOf({ sync }: Database): Snapshot['presets'] {
  const rows = sync
    .select({ preset: presets, version: presetVersions })
    .from(presets)
    .innerJoin(presetVersions, eq(presetVersions.id, presets.designated_version_id))
    .all()
  const byWorkspace = new Map<string, Map<string, PresetRecord>>()
  for (const { preset, version } of rows) {
    const own = byWorkspace.get(preset.workspace_id) ?? new Map<string, PresetRecord>()
    byWorkspace.set(preset.workspace_id, own)
    const record: PresetRecord = {
      id: preset.id,
      status: preset.status,
      config: version.config,
      systemPrompt: version.system_prompt,
    }
    own.set(preset.slug, record)
    own.set(preset.id, record)
  }
  return byWorkspace
}

export const keyRecord = (row: typeof apiKeys.$inferSelect): KeyRecord => ({
  hash: row.hash,
  id: row.id,
  kind: row.kind,
  name: row.name,
  label: row.label,
  disabled: row.disabled,
  limitNanoUsd: row.limit_nano_usd,
  limitReset: row.limit_reset,
  includeByokInLimit: row.include_byok_in_limit,
  expiresAt: row.expires_at?.getTime() ?? null,
  creatorUserId: row.creator_user_id,
  externalUser: row.external_user,
  workspaceId: row.workspace_id,
  ...(row.rate_limits && { rateLimits: row.rate_limits }),
})

const workspaceRecord = (row: typeof workspaces.$inferSelect): WorkspaceRecord => ({
  id: row.id,
  slug: row.slug,
  name: row.name,
  defaultGuardrailId: row.default_guardrail_id,
  defaultTextModel: row.default_text_model,
  defaultImageModel: row.default_image_model,
  defaultProviderSort: row.default_provider_sort,
  ...(row.rate_limits && { rateLimits: row.rate_limits }),
  ...loggingOf(row),
  responseCache: { isOn: row.response_cache_enabled, ttlSeconds: row.response_cache_ttl_seconds },
})

const loggingOf = (row: typeof workspaces.$inferSelect): Pick<WorkspaceRecord, 'contentLogging'> =>
  row.is_observability_io_logging_enabled
    ? {
        contentLogging: {
          samplingRate: row.io_logging_sampling_rate,
          keyIds: row.io_logging_api_key_ids && new Set(row.io_logging_api_key_ids),
        },
      }
    : {}
