import type { ByokKey } from '../core/byok.ts'
import type { Lookup, ModelDirectory, ProviderRecord, Snapshot } from '../core/snapshot.ts'
import { type Named, namedBy } from './named.ts'

/** The part of a Snapshot that comes from settings and discovery, not from tables. */
export interface Routing {
  readonly providers: readonly ProviderRecord[]
  readonly models: ModelDirectory
  /** Where lists show more than what can be called. */
  readonly shown?: Shown
  /** The same with those vendors of these slugs that could be called too, had they a credential; absent: with none. */
  withByok?(slugs: readonly string[]): Shown
}

interface Shown {
  readonly providers: readonly ProviderRecord[]
  readonly models: ModelDirectory
}

/** A routing, with what BYOK keys make callable in addition. */
export interface Reach {
  readonly fields: Pick<Snapshot, 'providersBySlug' | 'models' | 'shown' | 'withByok'>
  readonly named: Named
}

/** Makes the reach of a routing. It is made again only if BYOK keys are of other providers than before. */
export function createReach(routing: Routing): (byokKeys: Lookup<readonly ByokKey[]>) => Reach {
  const known = new Set(routing.providers.map(({ slug }) => slug))
  const fields = {
    providersBySlug: bySlug(routing.providers),
    models: routing.models,
    ...(routing.shown && {
      shown: { models: routing.shown.models, providersBySlug: bySlug(routing.shown.providers) },
    }),
  }
  let latest: { readonly names: string; readonly reach: Reach } | undefined
  return (byokKeys) => {
    const further = new Set<string>()
    for (const own of byokKeys.values()) {
      for (const { providerSlug } of own) if (!known.has(providerSlug)) further.add(providerSlug)
    }
    const slugs = [...further].sort()
    const names = slugs.join()
    if (latest?.names !== names) latest = { names, reach: reachWith(slugs) }
    return latest.reach
  }

  function reachWith(slugs: readonly string[]): Reach {
    const all = slugs.length === 0 ? undefined : routing.withByok?.(slugs)
    if (all === undefined || all.providers.length <= known.size)
      return { fields, named: namedBy([routing.models], routing.providers) }
    const withByok = { providersBySlug: bySlug(all.providers), models: all.models }
    const named = namedBy([routing.models, all.models], [...routing.providers, ...all.providers])
    return { fields: { ...fields, withByok }, named }
  }
}

const bySlug = (providers: readonly ProviderRecord[]): ReadonlyMap<string, ProviderRecord> =>
  new Map(providers.map((provider) => [provider.slug, provider]))
