import { type Static, Type } from '@sinclair/typebox'
import type { Actor } from '../../../core/actor.ts'
import { badRequest } from '../../../core/errors.ts'
import { instant, nullable } from '../../../http/schemas.ts'
import { newSecret } from './new-secret.ts'
import { configOf, type DestinationDeps, findDestination, storeConfig } from './service.ts'

/** How long webhooks are signed with the former secret as well. */
const OVERLAP_MS = 24 * 3_600_000

export const newSecretReply = Type.Object({
  signing_secret: Type.String({ description: 'Shown only here. Begins with `whsec_`.' }),
  former_valid_until: nullable(
    instant('Until then events are signed with the former secret as well; null: there was none.'),
  ),
})

/** Replaces the secret that a webhook is signed with. Throws a `GatewayError` 400 for other types. */
export async function renewSecret(
  deps: DestinationDeps,
  actor: Actor,
  id: string,
): Promise<Static<typeof newSecretReply>> {
  const row = await findDestination(deps, id)
  if (row.type !== 'webhook') throw badRequest('only destinations of the type webhook are signed')
  const config = configOf(deps, row)
  const until = deps.now() + OVERLAP_MS
  const former = (config.signing ?? []).filter((secret) => secret.until === null)
  const next = newSecret()
  const signing = [next, ...former.map(({ secret }) => ({ secret, until }))]
  await storeConfig(deps, actor, row, { ...config, signing }, ['signing_secret'])
  return {
    signing_secret: next.secret,
    former_valid_until: former.length === 0 ? null : new Date(until).toISOString(),
  }
}
