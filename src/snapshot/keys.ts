import type { GuardrailRecord } from '../core/guardrail.ts'
import { type RateLimits, rateGatesOf } from '../core/rate-limits.ts'
import type { KeyRecord, LimitReset, Lookup, WorkspaceRecord } from '../core/snapshot.ts'
import { spendingGatesOf } from '../core/spending-gates.ts'
import type { Database } from '../db/database.ts'

/** As SQLite has it: flags are 0 or 1, instants milliseconds since 1970. */
interface Row {
  hash: string
  id: number
  kind: KeyRecord['kind']
  name: string
  label: string
  disabled: number
  limit_nano_usd: number | null
  limit_reset: LimitReset | null
  include_byok_in_limit: number
  rate_limits: string | null
  expires_at: number | null
  creator_user_id: string
  external_user: string | null
  workspace_id: string
}

// Not by Drizzle, whose mapping of 100,000 rows takes as long as everything else at the start.
const SELECT = `SELECT hash, id, kind, name, label, disabled, limit_nano_usd, limit_reset, include_byok_in_limit,
  rate_limits, expires_at, creator_user_id, external_user, workspace_id
  FROM api_keys WHERE deleted_at IS NULL`

/** As their rows say; those that are deleted are not there. Absent `hashes`: all. */
export function readKeys({ file }: Database, hashes?: readonly string[]): [string, KeyRecord][] {
  const rows =
    hashes === undefined
      ? file.query<Row, []>(SELECT).all()
      : file
          .query<Row, [string]>(`${SELECT} AND hash IN (SELECT value FROM json_each(?))`)
          .all(JSON.stringify(hashes))
  const shared = new Map<string, string>()
  /** Many keys have the same maker and workspace: they share the text. */
  const once = (text: string): string => {
    const known = shared.get(text)
    if (known === undefined) shared.set(text, text)
    return known ?? text
  }
  return rows.map((row) => [row.hash, recordOf(row, once)])
}

function recordOf(row: Row, once: (text: string) => string): KeyRecord {
  const rateLimits: RateLimits | null = row.rate_limits === null ? null : JSON.parse(row.rate_limits)
  return {
    hash: row.hash,
    id: row.id,
    kind: row.kind,
    name: row.name,
    label: row.label,
    disabled: row.disabled === 1,
    limitNanoUsd: row.limit_nano_usd,
    limitReset: row.limit_reset,
    includeByokInLimit: row.include_byok_in_limit === 1,
    expiresAt: row.expires_at,
    creatorUserId: once(row.creator_user_id),
    externalUser: row.external_user,
    workspaceId: once(row.workspace_id),
    ...(rateLimits && { rateLimits }),
  }
}

/** What holds for keys besides their own rows. */
export interface Policies {
  readonly workspaces: Lookup<WorkspaceRecord>
  guardrailsOf(key: KeyRecord, defaultGuardrailId: string): readonly GuardrailRecord[]
}

/**
 * Keys with their guardrails and gates, computed at the first use of a key and cached in `known`: a change of a policy
 * does no work for each key under it. `known` belongs to these policies only.
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
    const spendingGates = workspace === undefined ? [] : spendingGatesOf(key, workspace, guardrails)
    const isPlain = guardrails.length === 0 && rateGates.length === 0 && spendingGates.length === 0
    const record = isPlain
      ? key
      : {
          ...key,
          ...(guardrails.length > 0 && { guardrails }),
          ...(rateGates.length > 0 && { rateGates }),
          ...(spendingGates.length > 0 && { spendingGates }),
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
