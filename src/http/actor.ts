import type { Actor } from '../core/actor.ts'
import type { Caller } from '../core/caller.ts'
import { requestIdOf } from './request-id.ts'

const MAX_USER_AGENT_LENGTH = 512

/** From where a request came, as records name it. `address` is the client's. */
export const whereFrom = (
  request: Request,
  address: string | null,
): Pick<Actor, 'requestId' | 'address' | 'userAgent'> => ({
  requestId: requestIdOf(request),
  address,
  userAgent: request.headers.get('user-agent')?.slice(0, MAX_USER_AGENT_LENGTH) ?? null,
})

/** The caller as the one who changes something: the key, or the person who has signed in. */
export const actorOf = (request: Request, { key, session }: Caller, address: string | null): Actor => ({
  ...(session === undefined
    ? { type: 'key', id: key.hash, label: key.label, userId: key.creatorUserId }
    : { type: 'user', id: session.userId, label: session.name, userId: session.userId }),
  ...whereFrom(request, address),
})
