import { createHash } from 'node:crypto'
import { and, eq, lte } from 'drizzle-orm'
import type { Actor, IdempotencyClaim } from '../core/actor.ts'
import { badRequest, conflict } from '../core/errors.ts'
import { selectRows } from '../db/columns.ts'
import { atomically, type Database } from '../db/database.ts'
import type { Sealer } from '../db/seal.ts'
import { idempotencyKeys } from '../db/tables.ts'
import { WORKSPACE_HEADER } from '../http/session.ts'
import { CLAIM_LIFETIME_MS } from './change.ts'

export interface OnceDeps {
  database: Database
  sealer: Sealer
  /** Milliseconds since 1970. */
  now(): number
}

interface OnceCall {
  request: Request
  actor: Actor
  body: unknown
  /** Of the reply to a successful creation; default 200. */
  status?: number
  /** Status and headers of the reply: a repeated one gets the first one's status, and a header that marks it as repeated. */
  set: { status?: number | string; headers: Record<string, string | number | string[]> }
}

/**
 * Creates a thing once for each `Idempotency-Key` of a caller: a second request with the same key and body creates
 * nothing and gets the first one's reply, also after a restart, for 24 hours. A rejected request leaves no trace: it
 * may be corrected and sent again with its key.
 *
 * Throws a `GatewayError`: 400 for a malformed key, 409 for one that was used for another request, and for one whose
 * request was interrupted, so that its reply is lost.
 */
export type Once = <T extends object>(call: OnceCall, create: (actor: Actor) => Promise<T>) => Promise<T>

const KEY = /^[\x21-\x7e]{1,255}$/

export function createOnce(deps: OnceDeps): Once {
  const running = new Map<string, Promise<unknown>>()
  return async (call, create) => {
    if (call.status !== undefined) call.set.status = call.status
    const key = call.request.headers.get('idempotency-key')
    if (key === null) return create(call.actor)
    const claim = claimOf(call, key)
    const place = JSON.stringify([claim.callerId, claim.key])
    // The second of two identical requests at once waits for the first.
    for (let other = running.get(place); other !== undefined; other = running.get(place)) {
      await other.catch(() => undefined)
    }
    const making = makeOnce(deps, claim, call, create)
    running.set(place, making)
    try {
      return await making
    } finally {
      running.delete(place)
    }
  }
}

async function makeOnce<T extends object>(
  deps: OnceDeps,
  claim: IdempotencyClaim,
  { actor, set }: OnceCall,
  create: (actor: Actor) => Promise<T>,
): Promise<T> {
  const earlier = await earlierAnswer(deps, claim)
  if (earlier !== null) {
    set.status = earlier.status
    set.headers['idempotent-replayed'] = 'true'
    return JSON.parse(earlier.text)
  }
  const made = await create({ ...actor, claim })
  const answer = {
    status: Number(set.status ?? 200),
    sealed_answer: deps.sealer.seal(JSON.stringify(made), placeOf(claim)),
  }
  await atomically(deps.database, (tx) => [
    tx.update(idempotencyKeys).set(answer).where(rowOf(claim)),
    tx
      .delete(idempotencyKeys)
      .where(lte(idempotencyKeys.created_at, new Date(deps.now() - CLAIM_LIFETIME_MS))),
  ])
  return made
}

function claimOf({ request, actor, body }: OnceCall, key: string): IdempotencyClaim {
  if (!KEY.test(key)) throw badRequest('must be 1 to 255 visible ASCII characters', 'header Idempotency-Key')
  const { pathname } = new URL(request.url)
  // Both prefixes of the API are one route.
  const path = pathname.replace(/^.*?\/v1\//, '/')
  // What a person makes belongs where this header says.
  const workspace = request.headers.get(WORKSPACE_HEADER)
  const asked = [request.method, path, body, ...(workspace === null ? [] : [workspace])]
  const fingerprint = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
  return { callerId: actor.id, key, fingerprint }
}

/** The reply to an earlier request with this key; null: there was none. */
async function earlierAnswer(
  { database, sealer, now }: OnceDeps,
  claim: IdempotencyClaim,
): Promise<{ status: number; text: string } | null> {
  const [row] = await selectRows(database.db, idempotencyKeys, rowOf(claim))
  if (row === undefined || row.created_at.getTime() <= now() - CLAIM_LIFETIME_MS) return null
  if (row.fingerprint !== claim.fingerprint) {
    throw conflict('header Idempotency-Key: this key was used for another request: send a new one')
  }
  if (row.sealed_answer === null || row.status === null) {
    throw conflict(
      'header Idempotency-Key: an earlier request with this key was interrupted. It may have created something; its reply is lost. Check, or send a new key',
    )
  }
  return { status: row.status, text: sealer.open(row.sealed_answer, placeOf(claim)) }
}

const rowOf = ({ callerId, key }: IdempotencyClaim) =>
  and(eq(idempotencyKeys.caller_key_hash, callerId), eq(idempotencyKeys.idempotency_key, key))

const placeOf = ({ callerId, key }: IdempotencyClaim) => ({
  table: 'idempotency_keys',
  column: 'sealed_answer',
  rowId: `${callerId}/${key}`,
})
