import type { ByokKey } from './byok.ts'
import type { Caller } from './caller.ts'
import type { CredentialRecord } from './credential.ts'
import { withPolicy } from './data-policy.ts'
import type { EndpointRecord, ModelRecord, ProviderRecord } from './provider.ts'
import type { Snapshot } from './snapshot.ts'

/** An endpoint with the credentials to call it: one BYOK key, or the gateway's credentials. */
export interface Route {
  /** As it is with this key: whether it retains data may differ. */
  readonly endpoint: EndpointRecord
  readonly provider: ProviderRecord
  /** Null: the gateway's credentials. */
  readonly byokKey: (ByokKey & { readonly credential: CredentialRecord }) | null
}

/** Why a caller has no route to an endpoint of a model that it may know. */
export interface Rejection {
  readonly endpoint: EndpointRecord
  readonly why: string
}

const NONE: readonly ByokKey[] = []

/** The BYOK keys that this caller may use, in the order in which they are tried. */
export function byokKeysOf({ key, workspace }: Caller, { byokKeys }: Snapshot): readonly ByokKey[] {
  const all = byokKeys?.get(workspace.id)
  if (all === undefined) return NONE
  return all.filter(
    ({ allowedKeyHashes, allowedUserIds }) =>
      (allowedKeyHashes === null || allowedKeyHashes.has(key.hash)) &&
      (allowedUserIds === null || allowedUserIds.has(key.creatorUserId)),
  )
}

/**
 * Every route to a model for a caller with these BYOK keys, in the order of its endpoints, BYOK keys ahead of the
 * gateway's credentials. Endpoints of providers without gateway credentials are visible only to callers with a BYOK key
 * for them.
 */
export function routesTo(
  model: ModelRecord,
  byokKeys: readonly ByokKey[],
  snapshot: Snapshot,
): { routes: Route[]; rejections: Rejection[] } {
  const routes: Route[] = []
  const rejections: Rejection[] = []
  for (const endpoint of endpointsOf(model, byokKeys, snapshot)) {
    const provider = snapshot.providersBySlug.get(endpoint.providerSlug)
    if (byokKeys.length === 0) {
      if (provider !== undefined) routes.push({ endpoint, provider, byokKey: null })
      continue
    }
    const here = byokKeys.filter(({ providerSlug }) => providerSlug === endpoint.providerSlug)
    const isFor = here.filter(({ allowedModels }) => allowedModels === null || includes(allowedModels, model))
    const callable = provider ?? snapshot.withByok?.providersBySlug.get(endpoint.providerSlug)
    for (const byokKey of isFor) {
      const { credential } = byokKey
      if (credential === null || callable === undefined) continue
      routes.push({
        endpoint: withDeclaredZdr(endpoint, byokKey),
        provider: callable,
        byokKey: { ...byokKey, credential },
      })
    }
    const isClosed = here.some(({ isByokOnly }) => isByokOnly) || isFor.some(({ isRequired }) => isRequired)
    if (provider !== undefined && !isClosed) routes.push({ endpoint, provider, byokKey: null })
    const isUnread = isFor.some(({ credential }) => credential === null)
    if (callable !== undefined && (provider === undefined ? isUnread : isClosed)) {
      rejections.push({ endpoint, why: whyClosed(callable, isUnread) })
    }
  }
  return { routes, rejections }
}

/** With BYOK keys, a model may have endpoints at more providers than the gateway has credentials for. */
function endpointsOf(
  model: ModelRecord,
  byokKeys: readonly ByokKey[],
  { withByok }: Snapshot,
): readonly EndpointRecord[] {
  if (withByok === undefined || byokKeys.length === 0) return model.endpoints
  const wider = withByok.models.find(model.id)
  return wider?.id === model.id ? wider.endpoints : model.endpoints
}

const includes = (set: ReadonlySet<string>, { id, canonicalSlug }: ModelRecord): boolean =>
  set.has(id) || set.has(canonicalSlug)

const withDeclaredZdr = (endpoint: EndpointRecord, { declaredZdr }: ByokKey): EndpointRecord =>
  declaredZdr === null || declaredZdr === endpoint.isZdr
    ? endpoint
    : withPolicy(endpoint, { zdr: declaredZdr ? 'always' : 'never' })

const whyClosed = ({ name }: ProviderRecord, isUnread: boolean): string =>
  isUnread
    ? `this workspace uses only its BYOK key of ${name}, and the stored key cannot be decrypted: store it again`
    : `this workspace uses only its BYOK key of ${name}`
