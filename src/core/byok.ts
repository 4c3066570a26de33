import type { Caller } from './caller.ts'
import type { CredentialRecord, EndpointRecord, ModelRecord, ProviderRecord, Snapshot } from './snapshot.ts'

/** A workspace's own key of a provider (BYOK), as the hot path needs it. Disabled ones are not there. */
export interface OwnKeyRecord {
  /** The row's id. */
  readonly id: string
  readonly providerSlug: string
  /** Ascending is the order of trying. */
  readonly sortOrder: number
  /** Null: it cannot be opened. It serves nobody then, and what it forbids is still forbidden. */
  readonly credential: CredentialRecord | null
  /** Tried after the gateway's own credentials, not before them. */
  readonly isFallback: boolean
  /** The gateway's own credentials of this provider are not used for the models that it is for. */
  readonly isRequired: boolean
  /** They are not used for any model. */
  readonly isByokOnly: boolean
  /** What is agreed with the provider; null: what is known of the endpoint. */
  readonly declaredZdr: boolean | null
  /** Lists: null is no restriction. Models by id or canonical slug. */
  readonly allowedKeyHashes: ReadonlySet<string> | null
  readonly allowedModels: ReadonlySet<string> | null
  readonly allowedUserIds: ReadonlySet<string> | null
}

/** One way to an endpoint: with one key of the workspace, or with the gateway's own credentials. */
export interface Way {
  /** As it is with this key: whether it retains data may be another matter. */
  readonly endpoint: EndpointRecord
  readonly provider: ProviderRecord
  /** Null: the gateway's own credentials. */
  readonly ownKey: (OwnKeyRecord & { readonly credential: CredentialRecord }) | null
}

/** Why there is no way to an endpoint, for those to whom its model is known. */
export interface NoWay {
  readonly endpoint: EndpointRecord
  readonly why: string
}

const NONE: readonly OwnKeyRecord[] = []

/** The keys that this caller may use, in the order in which they are tried. */
export function ownKeysOf({ key, workspace }: Caller, { ownKeys }: Snapshot): readonly OwnKeyRecord[] {
  const all = ownKeys?.get(workspace.id)
  if (all === undefined) return NONE
  return all.filter(
    ({ allowedKeyHashes, allowedUserIds }) =>
      (allowedKeyHashes === null || allowedKeyHashes.has(key.hash)) &&
      (allowedUserIds === null || allowedUserIds.has(key.creatorUserId)),
  )
}

/**
 * Every way to a model for a caller with these keys, in the order of its endpoints, each one's own keys ahead of the
 * gateway's credentials. Endpoints of providers that the gateway has no credential for are reached with own keys alone;
 * to who has none they are not there.
 */
export function waysTo(
  model: ModelRecord,
  ownKeys: readonly OwnKeyRecord[],
  snapshot: Snapshot,
): { ways: Way[]; closed: NoWay[] } {
  const ways: Way[] = []
  const closed: NoWay[] = []
  for (const endpoint of endpointsOf(model, ownKeys, snapshot)) {
    const provider = snapshot.providersBySlug.get(endpoint.providerSlug)
    if (ownKeys.length === 0) {
      if (provider !== undefined) ways.push({ endpoint, provider, ownKey: null })
      continue
    }
    const here = ownKeys.filter(({ providerSlug }) => providerSlug === endpoint.providerSlug)
    const isFor = here.filter(({ allowedModels }) => allowedModels === null || names(allowedModels, model))
    const brought = provider ?? snapshot.brought?.providersBySlug.get(endpoint.providerSlug)
    for (const ownKey of isFor) {
      const { credential } = ownKey
      if (credential === null || brought === undefined) continue
      ways.push({
        endpoint: agreed(endpoint, ownKey),
        provider: brought,
        ownKey: { ...ownKey, credential },
      })
    }
    const isShut = here.some(({ isByokOnly }) => isByokOnly) || isFor.some(({ isRequired }) => isRequired)
    if (provider !== undefined && !isShut) ways.push({ endpoint, provider, ownKey: null })
    const isUnread = isFor.some(({ credential }) => credential === null)
    if (brought !== undefined && (provider === undefined ? isUnread : isShut)) {
      closed.push({ endpoint, why: sayShut(brought, isUnread) })
    }
  }
  return { ways, closed }
}

/** With what the workspace brings along, a model may have endpoints at more providers than the gateway's. */
function endpointsOf(
  model: ModelRecord,
  ownKeys: readonly OwnKeyRecord[],
  { brought }: Snapshot,
): readonly EndpointRecord[] {
  if (brought === undefined || ownKeys.length === 0) return model.endpoints
  const wider = brought.models.find(model.id)
  return wider?.id === model.id ? wider.endpoints : model.endpoints
}

const names = (set: ReadonlySet<string>, { id, canonicalSlug }: ModelRecord): boolean =>
  set.has(id) || set.has(canonicalSlug)

const agreed = (endpoint: EndpointRecord, { declaredZdr }: OwnKeyRecord): EndpointRecord =>
  declaredZdr === null || declaredZdr === endpoint.isZdr ? endpoint : { ...endpoint, isZdr: declaredZdr }

const sayShut = ({ name }: ProviderRecord, isUnread: boolean): string =>
  isUnread
    ? `this workspace uses its own key of ${name} alone, and the stored key cannot be opened: store it again`
    : `this workspace uses its own key of ${name} alone`
