import type { Actor } from '../core/actor.ts'
import type { Caller } from '../core/caller.ts'
import { requestIdOf } from './request-id.ts'

const MAX_USER_AGENT_LENGTH = 512

/** The caller as the one who changes something. `address` is the client's. */
export const actorOf = (request: Request, { key }: Caller, address: string | null): Actor => ({
  type: 'key',
  id: key.hash,
  label: key.label,
  userId: key.creatorUserId,
  requestId: requestIdOf(request),
  address,
  userAgent: request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
})
