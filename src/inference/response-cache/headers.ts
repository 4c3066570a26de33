import type { KeptAnswer } from './store.ts'

type ReplyHeaders = Readonly<Record<string, string>>

export const missHeaders = (ttlSeconds: number): ReplyHeaders =>
  underBothNames({ status: 'MISS', ttl: String(ttlSeconds) })

/** `ttl` is what is left of it. */
export const hitHeaders = ({ sourceId, keptAt, expiresAt }: KeptAnswer, now: number): ReplyHeaders =>
  underBothNames({
    status: 'HIT',
    age: String(Math.max(0, Math.floor((now - keptAt) / 1000))),
    ttl: String(Math.max(0, Math.ceil((expiresAt - now) / 1000))),
    'source-id': sourceId,
  })

/** As the routing metadata: the spec's name, and that of the real service. */
const underBothNames = (fields: ReplyHeaders): ReplyHeaders =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => [
      [`x-service-cache-${name}`, value],
      [`x-openrouter-cache-${name}`, value],
    ]),
  )
