import type { KeyRecord, WorkspaceRecord } from './snapshot.ts'

/** Who calls us: a key that was valid when the request came, and the workspace that it belongs to. */
export interface Caller {
  readonly key: KeyRecord
  readonly workspace: WorkspaceRecord
}

/** What the caller told of itself beside the body, for the record. */
export interface RequestOrigin {
  requestId: string
  /** HTTP-Referer as it came; '' without one. */
  httpReferer: string
  /** X-Title (or X-OpenRouter-Title); '' without one. */
  title: string
  /** The origin (scheme and host) of the referer; '' without one. */
  origin: string
  userAgent: string
}
