import type { Actor } from '../core/actor.ts'
import type { Caller } from '../core/caller.ts'
import type { Incoming } from './incoming.ts'

const MAX_USER_AGENT_LENGTH = 512

/** Origin of a request for records. `address` is the client's. */
export const whereFrom = (
  { id, request }: Incoming,
  address: string | null,
): Pick<Actor, 'requestId' | 'address' | 'userAgent'> => ({
  requestId: id,
  address,
  userAgent: request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
})

/** The caller as the author of a change: the key, or the signed-in person. */
export const actorOf = (incoming: Incoming, { key, session }: Caller, address: string | null): Actor => ({
  ...(session === undefined
    ? { type: 'key', id: key.hash, label: key.label, userId: key.creatorUserId }
    : { type: 'user', id: session.userId, label: session.name, userId: session.userId }),
  ...whereFrom(incoming, address),
})
