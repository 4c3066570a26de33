import { and, asc, eq, inArray } from 'drizzle-orm'
import type { ByokKey } from '../core/byok.ts'
import type { CredentialRecord, ProviderKind } from '../core/snapshot.ts'
import type { Database } from '../db/database.ts'
import { byokPlace, type Sealer } from '../db/seal.ts'
import { byokKeys } from '../db/tables.ts'
import { readByokKey, vendorKindOf } from '../providers/byok.ts'

type Row = typeof byokKeys.$inferSelect

/** Opens stored BYOK keys, and reports those that cannot be opened. */
export interface ByokSecrets {
  readonly sealer: Sealer
  /** Called once for each stored value. `reason` names the row, never the key. */
  onUnreadable(left: {
    id: string
    workspaceId: string
    provider: string
    label: string
    reason: string
  }): void
}

/** Reads the provider keys that are not disabled, by workspace. Absent `workspaceIds`: of all. */
export type ReadByokKeys = (
  kindOf: (slug: string) => ProviderKind | undefined,
  workspaceIds?: readonly string[],
) => ReadonlyMap<string, readonly ByokKey[]>

/** A decrypted credential is cached, in memory only, as long as its row exists. */
export function createByokKeys({ sync }: Database, { sealer, onUnreadable }: ByokSecrets): ReadByokKeys {
  /** By workspace. */
  const opened = new Map<string, ReadonlyMap<string, CredentialRecord | null>>()
  const credentialOf = (row: Row, kind: ProviderKind | undefined): CredentialRecord | null => {
    const known = opened.get(row.workspace_id)?.get(nameOf(row, kind))
    if (known !== undefined) return known
    const read = readRow(row, kind, sealer)
    if (typeof read !== 'string') return read
    const { id, workspace_id: workspaceId, provider, label } = row
    onUnreadable({ id, workspaceId, provider, label, reason: read })
    return null
  }
  return (kindOf, workspaceIds) => {
    const rows = sync
      .select()
      .from(byokKeys)
      .where(
        and(eq(byokKeys.disabled, false), workspaceIds && inArray(byokKeys.workspace_id, [...workspaceIds])),
      )
      .orderBy(asc(byokKeys.sort_order), asc(byokKeys.id))
      .all()
    const byWorkspace = new Map<string, ByokKey[]>()
    const kept = new Map<string, Map<string, CredentialRecord | null>>()
    for (const row of rows) {
      const kind = kindOf(row.provider) ?? vendorKindOf(row.provider)
      const credential = credentialOf(row, kind)
      const id = row.workspace_id
      kept.set(id, (kept.get(id) ?? new Map()).set(nameOf(row, kind), credential))
      const own = byWorkspace.get(id) ?? []
      byWorkspace.set(id, own)
      own.push(recordOf(row, credential))
    }
    for (const id of workspaceIds ?? [...opened.keys()]) opened.delete(id)
    for (const [id, credentials] of kept) opened.set(id, credentials)
    return byWorkspace
  }
}

/** A provider that is configured otherwise may read it otherwise. */
const nameOf = ({ id, provider, sealed_key }: Row, kind: ProviderKind | undefined): string =>
  [id, provider, sealed_key, kind].join('\n')

/** A string is the reason why the key cannot be used. */
function readRow(row: Row, kind: ProviderKind | undefined, sealer: Sealer): CredentialRecord | string {
  const where = `byok_keys ${row.id}`
  if (kind === undefined)
    return `The provider of ${where} is not known to this version, and is not configured`
  try {
    const key = sealer.open(row.sealed_key, byokPlace(row))
    // A replaced key is another credential: health and tokens of the old one do not apply to it.
    const read = readByokKey(kind, `${row.id}.${Bun.hash(row.sealed_key).toString(36)}`, key)
    return 'problem' in read ? `What is sealed in ${where} ${read.problem}` : read.credential
  } catch (error) {
    return error instanceof Error ? error.message : `The sealed value in ${where} cannot be opened`
  }
}

const setOf = (list: readonly string[] | null): ReadonlySet<string> | null =>
  list === null ? null : new Set(list)

const recordOf = (row: Row, credential: CredentialRecord | null): ByokKey => ({
  id: row.id,
  providerSlug: row.provider,
  sortOrder: row.sort_order,
  credential,
  isFallback: row.is_fallback,
  isRequired: row.is_required,
  isByokOnly: row.is_byok_only,
  declaredZdr: row.declared_zdr,
  allowedKeyHashes: setOf(row.allowed_api_key_hashes),
  allowedModels: setOf(row.allowed_models),
  allowedUserIds: setOf(row.allowed_user_ids),
})
