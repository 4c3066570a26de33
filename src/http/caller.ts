/** Authenticates callers: from the Authorization header (or x-api-key) to a key and its workspace, without SQL and before a body is read. */
import type { Caller, RequestOrigin } from '../core/caller.ts'
import { forbidden, unauthorized } from '../core/errors.ts'
import { hashKey, isKeyPlausible, type KeyKind } from '../core/keys.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { actorOf } from './actor.ts'
import { ADMIN_BODY_LIMIT, readJsonBody } from './body.ts'
import { ownBody } from './body-budget.ts'
import { type Incoming, routes } from './incoming.ts'
import type { RateLimit } from './rate-limit.ts'
import { refuseForeignPage, type SessionSource, sessionCaller } from './session.ts'

/** Which kind of key an operation takes. */
export type CallerKind = KeyKind | 'any'

const BEARER = /^Bearer +(\S+) *$/i

const WRONG_KIND: Readonly<Record<KeyKind, string>> = {
  management: 'Only management keys can perform this operation',
  inference: 'A management key cannot perform inference: use an inference key',
}

const MISSING_KEY = 'Missing API key: send it in the header "Authorization: Bearer <key>" (or "x-api-key")'
const MALFORMED_KEY = 'Invalid API key: the Authorization header must be "Bearer <key>"'
/** One message for unknown, deleted, disabled and expired keys: it reveals nothing about existing keys. */
const WRONG_KEY = 'Invalid API key: this gateway has no enabled key with this value'

/**
 * The caller of a request. Throws a `GatewayError`: 401 without a key or with an invalid one (unknown, deleted, disabled,
 * expired), 403 for a key of the other kind. `now` is in milliseconds.
 */
export function authenticate(incoming: Incoming, snapshot: Snapshot, kind: CallerKind, now: number): Caller {
  const { request } = incoming
  const token = tokenOf(request)
  if (token === undefined) throw unauthorized(namesKey(request) ? MALFORMED_KEY : MISSING_KEY)
  if (!isKeyPlausible(token)) throw unauthorized(WRONG_KEY)
  const key = snapshot.keysByHash.get(hashKey(token))
  if (key === undefined || key.disabled || (key.expiresAt !== null && key.expiresAt <= now))
    throw unauthorized(WRONG_KEY)
  const workspace = snapshot.workspacesById.get(key.workspaceId)
  if (workspace === undefined) throw unauthorized(WRONG_KEY)
  ownBody(incoming.body, key.hash)
  incoming.keyLabel = key.label
  incoming.workspace = workspace.slug
  if (kind !== 'any' && key.kind !== kind) throw forbidden(WRONG_KIND[kind], { reason: 'auth' })
  return { key, workspace }
}

/**
 * The bearer token, else the `x-api-key` of Anthropic's clients or Google's key. A client may send both, with an Anthropic
 * key from its environment in `x-api-key`: the bearer token, which was set on purpose, wins.
 */
export function tokenOf({ headers, url }: Request): string | undefined {
  const authorization = headers.get('authorization')
  if (authorization !== null) return BEARER.exec(authorization)?.[1]
  return (headers.get('x-api-key') ?? headers.get('x-goog-api-key'))?.trim() ?? keyInAddress(url)
}

/** Google's clients may send the key as `?key=`. Read on Google's routes only, and never logged. */
function keyInAddress(url: string): string | undefined {
  const at = url.indexOf('?')
  if (at < 0 || !GOOGLES.test(url.slice(0, at))) return undefined
  return new URLSearchParams(url.slice(at)).get('key') ?? undefined
}
const GOOGLES = /\/(?:v1beta\/|models(?:\/|$))/

const MAX_ORIGIN_LENGTH = 512
const MAX_TITLE_LENGTH = 256

/** Headers by which a caller describes itself and its application, truncated for records. */
export function originOf({ id, request: { headers } }: Incoming): RequestOrigin {
  const httpReferer = headerText(headers, MAX_ORIGIN_LENGTH, 'http-referer', 'referer')
  return {
    requestId: id,
    httpReferer,
    title: headerText(headers, MAX_TITLE_LENGTH, 'x-title', 'x-openrouter-title'),
    origin: webOrigin(httpReferer),
    userAgent: headerText(headers, MAX_ORIGIN_LENGTH, 'user-agent'),
  }
}

function headerText(headers: Headers, maxLength: number, ...names: readonly string[]): string {
  for (const name of names) {
    const value = headers.get(name)?.trim()
    if (value) return value.slice(0, maxLength)
  }
  return ''
}

function webOrigin(referer: string): string {
  if (referer === '') return ''
  const url = URL.parse(referer)
  return url && /^https?:$/.test(url.protocol) ? url.origin : ''
}

export interface CallerDeps {
  snapshot: { current(): Snapshot }
  /** Sessions of people; absent: only keys are accepted. */
  sessions?: SessionSource
  /** Milliseconds since 1970. */
  now(): number
  /** The client's address; null if unknown. */
  addressOf(incoming: Incoming): string | null
  /** The rate limit of administration; absent: none. */
  rateLimit?: RateLimit
}

/**
 * The caller of an administration request: by its key, else by the session of its cookie (session.ts has the rights of
 * sessions). Throws as `authenticate` does, and 429 if the key calls too often.
 */
export async function callerOf(deps: CallerDeps, incoming: Incoming, kind: CallerKind): Promise<Caller> {
  const caller = await whoCalls(deps, incoming, kind)
  deps.rateLimit?.take(incoming, caller.key.hash)
  return caller
}

/** True if a request contains a key, valid or not. */
export const namesKey = ({ headers, url }: Request): boolean =>
  headers.has('authorization') ||
  headers.has('x-api-key') ||
  headers.has('x-goog-api-key') ||
  keyInAddress(url) !== undefined

async function whoCalls(deps: CallerDeps, incoming: Incoming, kind: CallerKind): Promise<Caller> {
  const { request } = incoming
  const snapshot = deps.snapshot.current()
  const session = namesKey(request) ? null : ((await deps.sessions?.of(incoming)) ?? null)
  if (session === null || deps.sessions === undefined)
    return authenticate(incoming, snapshot, kind, deps.now())
  ownBody(incoming.body, session.userId)
  incoming.userId = session.userId
  refuseForeignPage(deps.sessions, request)
  return sessionCaller(request, session, snapshot, kind)
}

const METHODS_WITH_BODY = new Set(['POST', 'PUT', 'PATCH'])

/** The same without a rate limit, for the catalogue. */
export const uncountedCallerOption = ({ rateLimit: _, ...deps }: CallerDeps) => callerOption(deps)

/**
 * The route option `caller: 'management' | 'inference' | 'any'`: adds `caller` and `actor` to the context. 401 and 403 come before
 * the body is read, malformed JSON (400) and a body over 1 MB (413) after that; bodies of other methods are ignored.
 */
export const callerOption = (deps: CallerDeps) =>
  // Elysia deduplicates plugins by name: the counted and the uncounted option need different names.
  routes({ name: deps.rateLimit ? 'caller' : 'caller-uncounted' }).macro({
    caller: (kind: CallerKind) => ({
      // Elysia parses, transforms, validates and resolves in this order, but skips unused steps: any may be the first.
      async parse({ incoming }: { incoming: Incoming }) {
        await callerOf(deps, incoming, kind)
        if (!METHODS_WITH_BODY.has(incoming.request.method)) return null
        return await readJsonBody(incoming, ADMIN_BODY_LIMIT)
      },
      async transform({ incoming }: { incoming: Incoming }) {
        await callerOf(deps, incoming, kind)
      },
      async resolve({ incoming }: { incoming: Incoming }) {
        const caller = await callerOf(deps, incoming, kind)
        return { caller, actor: actorOf(incoming, caller, deps.addressOf(incoming)) }
      },
    }),
  })
