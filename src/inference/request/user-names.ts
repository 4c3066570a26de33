import type { Caller } from '../../core/caller.ts'
import { badRequest, unavailable } from '../../core/errors.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { Snapshot } from '../../core/snapshot.ts'
import { isReachable, type OutboundAllow, refusedHost } from '../../net/address.ts'
import type { Names } from '../../net/names.ts'
import { isOnOwnNetwork } from '../../providers/index.ts'
import { requestedProviders } from '../routing/resolve.ts'
import { checkUserUrls, MOST_NAMES, type UserNames } from './user-urls.ts'

export interface UserUrlDeps {
  /** Private hosts that the operator allows in callers' URLs. */
  outboundAllow: OutboundAllow
  names: Names
}

const RETRY_AFTER_SECONDS = 2

/**
 * Rejects URLs of private addresses. For providers on the operator's network, host names are resolved and checked as
 * well; other providers fetch from their own networks. Returns a promise only if names must be resolved. Throws or rejects
 * with a `GatewayError` 400 that names the field.
 */
export function checkUrls(
  request: RoutedRequest,
  caller: Caller,
  snapshot: Snapshot,
  deps: UserUrlDeps,
): Promise<void> | undefined {
  const named = checkUserUrls(request.body, deps.outboundAllow)
  if (named === null) return undefined
  const places = requestedProviders({ request, caller, snapshot }).map((provider) =>
    isOnOwnNetwork(provider, deps.outboundAllow),
  )
  const unsure = [...new Set(places.filter((place) => typeof place === 'string'))]
  if (places.includes(true)) return refusePrivate(named, deps)
  return unsure.length === 0 ? undefined : refuseIfInside(unsure, named, deps)
}

/** For providers whose own host name must be resolved to know whether they are on the operator's network. */
async function refuseIfInside(hosts: readonly string[], named: UserNames, deps: UserUrlDeps): Promise<void> {
  const inside = await Promise.all(hosts.map((host) => isPrivate(host, deps)))
  if (inside.includes(true)) await refusePrivate(named, deps)
}

async function refusePrivate(named: UserNames, deps: UserUrlDeps): Promise<void> {
  if (named.size > MOST_NAMES)
    throw badRequest(
      `The URLs of the request name more than ${MOST_NAMES} hosts, which is too many for this model`,
    )
  await Promise.all(
    [...named].map(async ([host, place]) => {
      if (await isPrivate(host, deps)) throw refusedHost(place)
    }),
  )
}

/** True if any of its addresses is private. False if the name does not resolve: the provider cannot connect to it either. */
async function isPrivate(host: string, { names, outboundAllow }: UserUrlDeps): Promise<boolean> {
  const addresses = await names.addressesOf(host)
  if (addresses === null)
    throw unavailable('Too many host names of URLs are being resolved', RETRY_AFTER_SECONDS)
  return addresses.some((address) => !isReachable(address, outboundAllow))
}
