/** Maps the session of a person to a Caller and enforces the person's role. */
import type { Caller, Session } from '../core/caller.ts'
import { forbidden, notFound } from '../core/errors.ts'
import type { KeyKind } from '../core/keys.ts'
import type { KeyRecord, Snapshot, WorkspaceRecord } from '../core/snapshot.ts'
import type { Incoming } from './incoming.ts'

export interface SessionSource {
  /** The session of the request's cookie, looked up once per request; null without a valid session. */
  of(incoming: Incoming): Promise<Session | null>
  /** True if a page of this server sent the request, according to the browser. */
  isOwnPage(request: Request): boolean
}

const READS = new Set(['GET', 'HEAD'])
/** Selects the workspace of a session request, by id or slug. */
export const WORKSPACE_HEADER = 'x-workspace-id'

export const FOREIGN_PAGE =
  'This request does not come from a page of this server. A session can change data only from its pages'

/** Rejects requests that a page of another site makes the browser send: the browser adds the cookie to them. */
export function refuseForeignPage(sessions: SessionSource, request: Request): void {
  if (!READS.has(request.method) && !sessions.isOwnPage(request)) throw forbidden(FOREIGN_PAGE)
}

/**
 * An administrator has the rights of a management key. A member has the read rights of an inference key of the same
 * workspace and changes nothing. `X-Workspace-Id` selects the workspace; default: the default one, or for a member who
 * is not in it, their first. Throws a `GatewayError`: 403 for a page of another site, for inference, and if the role does
 * not allow it; 404 for a workspace that the person cannot see.
 */
export function sessionCaller(
  request: Request,
  session: Session,
  snapshot: Snapshot,
  kind: KeyKind | 'any',
): Caller {
  const isRead = READS.has(request.method)
  if (kind === 'inference') throw forbidden('A session cannot perform inference: use an inference key')
  if (session.role !== 'admin') {
    if (kind === 'management')
      throw forbidden('Only management keys can perform this operation, and people with the role org:admin')
    if (!isRead)
      throw forbidden(
        'Members can only read: for changes use a management key, or ask for the role org:admin',
      )
  }
  const workspace = workspaceOf(request, session, snapshot)
  return { key: keyOf(session, workspace), workspace, session }
}

function workspaceOf(request: Request, session: Session, snapshot: Snapshot): WorkspaceRecord {
  const named = request.headers.get(WORKSPACE_HEADER)?.trim()
  const all = [...snapshot.workspacesById.values()]
  const seen = session.role === 'admin' ? all : all.filter(({ id }) => session.workspaceIds.includes(id))
  if (named) {
    const workspace = seen.find(({ id, slug }) => id === named.toLowerCase() || slug === named)
    if (workspace === undefined) throw notFound('There is no workspace with this id or slug')
    return workspace
  }
  const first = session.workspaceIds.find((id) => snapshot.workspacesById.has(id)) ?? ''
  const usual =
    seen.find(({ id }) => id === snapshot.defaultWorkspaceId) ?? snapshot.workspacesById.get(first)
  if (usual === undefined || !seen.includes(usual))
    throw forbidden('You are not a member of a workspace yet: an administrator can add you to one')
  return usual
}

/** No stored key has such a hash, so it has neither a limit nor usage. */
const keyOf = ({ id, name, role, userId }: Session, workspace: WorkspaceRecord): KeyRecord => ({
  hash: `session:${id}`,
  id: 0,
  kind: role === 'admin' ? 'management' : 'inference',
  name,
  label: name,
  disabled: false,
  limitNanoUsd: null,
  limitReset: null,
  includeByokInLimit: false,
  expiresAt: null,
  creatorUserId: userId,
  externalUser: null,
  workspaceId: workspace.id,
})
