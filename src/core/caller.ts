import type { KeyRecord, WorkspaceRecord } from './snapshot.ts'

/**
 * The authenticated caller: a key that was valid when the request arrived, and its workspace. For a session, `key` is
 * synthetic: it has the kind whose rights the person has, and no stored hash.
 */
export interface Caller {
  readonly key: KeyRecord
  readonly workspace: WorkspaceRecord
  /** Present if the request is authenticated by a browser session, not by a key. */
  readonly session?: Session
}

/** A session with the person's present name, role and workspaces. */
export interface Session {
  /** SHA-256 of the token in the cookie, in hex: names the session and opens nothing. */
  readonly id: string
  readonly userId: string
  /** The person's name. */
  readonly name: string
  readonly role: 'admin' | 'member'
  /** The workspaces that the person is a member of, in the order of joining. */
  readonly workspaceIds: readonly string[]
}

/** Headers by which the caller describes itself, for the record. */
export interface RequestOrigin {
  requestId: string
  /** The HTTP-Referer header; '' without one. */
  httpReferer: string
  /** X-Title (or X-OpenRouter-Title); '' without one. */
  title: string
  /** The origin (scheme and host) of the referer; '' without one. */
  origin: string
  userAgent: string
}
