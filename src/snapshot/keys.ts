import { and, getTableColumns, inArray, isNull } from 'drizzle-orm'
import type { GuardrailRecord } from '../core/guardrail.ts'
import { rateGatesOf } from '../core/rate-limits.ts'
import type { KeyRecord, Lookup, WorkspaceRecord } from '../core/snapshot.ts'
import type { Database } from '../db/database.ts'
import { apiKeys } from '../db/tables.ts'

/** What no request needs is not read. */
const {
  bootstrap: _bootstrap,
  created_at: _made,
  updated_at: _changed,
  deleted_at: _gone,
  ...columns
} = getTableColumns(apiKeys)

type Row = Pick<typeof apiKeys.$inferSelect, keyof typeof columns>

/** As their rows say; those that are deleted are not there. Absent `hashes`: all. */
export function readKeys({ sync }: Database, hashes?: readonly string[]): [string, KeyRecord][] {
  const isNamed = hashes && inArray(apiKeys.hash, [...hashes])
  const shared = new Map<string, string>()
  /** Many keys have the same maker and workspace: they share the text. */
  const once = (text: string): string => {
    const known = shared.get(text)
    if (known === undefined) shared.set(text, text)
    return known ?? text
  }
  return sync
    .select(columns)
    .from(apiKeys)
    .where(and(isNull(apiKeys.deleted_at), isNamed))
    .all()
    .map((row) => [row.hash, recordOf(row, once)])
}

const recordOf = (row: Row, once: (text: string) => string): KeyRecord => ({
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
  creatorUserId: once(row.creator_user_id),
  externalUser: row.external_user,
  workspaceId: once(row.workspace_id),
  ...(row.rate_limits && { rateLimits: row.rate_limits }),
})

/** What holds for keys besides their own rows. */
export interface Policies {
  readonly workspaces: Lookup<WorkspaceRecord>
  guardrailsOf(key: KeyRecord, defaultGuardrailId: string): readonly GuardrailRecord[]
}

/**
 * Keys with what holds for them, worked out when a key is first asked for and kept in `known`: a change of a policy
 * costs nothing for each key that it holds for. `known` is of these policies alone.
 */
export function keysUnder(
  keys: Lookup<KeyRecord>,
  { workspaces, guardrailsOf }: Policies,
  known: WeakMap<KeyRecord, KeyRecord>,
): Lookup<KeyRecord> {
  function complete(key: KeyRecord): KeyRecord {
    const former = known.get(key)
    if (former !== undefined) return former
    const workspace = workspaces.get(key.workspaceId)
    const guardrails = guardrailsOf(key, workspace?.defaultGuardrailId ?? '')
    const rateGates = rateGatesOf(key, guardrails, workspace)
    const isPlain = guardrails.length === 0 && rateGates.length === 0
    const record = isPlain
      ? key
      : {
          ...key,
          ...(guardrails.length > 0 && { guardrails }),
          ...(rateGates.length > 0 && { rateGates }),
        }
    known.set(key, record)
    return record
  }
  return {
    get(hash) {
      const key = keys.get(hash)
      return key && complete(key)
    },
    has: (hash) => keys.has(hash),
    *values() {
      for (const key of keys.values()) yield complete(key)
    },
  }
}
