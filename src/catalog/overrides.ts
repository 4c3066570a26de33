import { nearestNames } from '../core/nearest.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { EndpointRecord, ModelDetails, ModelOffer } from '../core/snapshot.ts'
import { cloudVendors, vendors } from '../providers/compatible.ts'
import { localServers } from '../providers/discovery.ts'
import type { Catalog } from './catalog.ts'

/** An operator's override of a model. It wins over the catalogue, before and after a refresh. */
export interface ModelOverride {
  /** Its place in the settings: `models[0]`. */
  readonly place: string
  /** As the operator wrote it. */
  readonly id: string
  /** Only at this provider; null: wherever it is offered. Aliases, name and details are the model's in any case. */
  readonly provider: string | null
  readonly aliases: readonly string[]
  /** Neither listed nor called. */
  readonly isHidden: boolean
  readonly name?: string
  /** Of the model, at every provider. */
  readonly details: ModelDetails
  /** Replaces metadata of the endpoint. A price replaces all buckets. */
  readonly endpoint: Partial<Omit<EndpointRecord, 'isZdr'>>
}

export interface OverrideSurroundings {
  readonly catalog: Catalog
  /** Of `providers:` entries. */
  readonly offers: readonly ModelOffer[]
  /** Slugs of `providers:` entries. */
  readonly entries: readonly string[]
}

/** Names that lead nowhere or to something else. Models of a server nearby are not known before it is found. */
export function overrideProblems(
  overrides: readonly ModelOverride[],
  surroundings: OverrideSurroundings,
): ConfigProblem[] {
  const problems: ConfigProblem[] = []
  const local = localServers.map(({ slug }) => slug)
  const providers = [
    ...surroundings.entries,
    ...[...vendors, ...cloudVendors].map(({ slug }) => slug),
    ...local,
    'sluice',
  ]
  const taken = new Map<string, string>()
  for (const { place, id, provider, aliases } of overrides) {
    if (provider !== null && !providers.includes(provider)) {
      problems.push({ path: `${place}.provider`, message: unknown(provider, providers) })
    }
    const isNearby = provider !== null && local.includes(provider)
    if (!isNearby && !isKnown(id, surroundings)) {
      problems.push({ path: `${place}.id`, message: unknown(id, idsOf(surroundings)) })
    }
    for (const [index, alias] of aliases.entries()) {
      const path = `${place}.aliases[${index}]`
      const owner = taken.get(alias.toLowerCase())
      if (owner !== undefined && owner !== id)
        problems.push({ path, message: `"${alias}" is an alias of ${owner} already` })
      taken.set(alias.toLowerCase(), id)
      if (idsOf(surroundings).includes(alias))
        problems.push({ path, message: `"${alias}" is the id of a model` })
    }
  }
  return problems
}

const isKnown = (id: string, { catalog, offers }: OverrideSurroundings): boolean =>
  catalog.named(id) !== undefined ||
  catalog.isRetired(id) ||
  offers.some(
    ({ endpoint, aliases }) => endpoint.modelId === id || endpoint.id === id || aliases.includes(id),
  )

const idsOf = ({ catalog, offers }: OverrideSurroundings): string[] => [
  ...catalog.models.map(({ id }) => id),
  ...offers.map(({ endpoint }) => endpoint.modelId),
]

function unknown(name: string, known: readonly string[]): string {
  const nearest = nearestNames(name, known, 3)
  const hint = nearest.length === 0 ? '' : `; did you mean ${nearest.join(' or ')}?`
  return `"${name.slice(0, 100)}" is not known${hint}`
}
