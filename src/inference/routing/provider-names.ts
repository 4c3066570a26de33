import { nearestNames } from '../../core/nearest.ts'
import type { ProviderRecord } from '../../core/snapshot.ts'
import type { PlanInput } from './plan-input.ts'

/** A name in a preference that no provider here has. */
interface UnknownProvider {
  readonly field: 'only' | 'order' | 'ignore'
  readonly name: string
  readonly nearest: readonly string[]
}

const FIELDS = ['only', 'order', 'ignore'] as const

/**
 * Names in `only`, `order` and `ignore` of providers that are not configured here. Clients send fixed lists, so that such a
 * name is no error as long as an endpoint is left.
 */
export function unknownProviders({ request: { preferences }, snapshot }: PlanInput): UnknownProvider[] {
  if (!preferences.only && !preferences.order && !preferences.ignore) return NONE
  const { providersBySlug, withByok } = snapshot
  const providers = [...providersBySlug.values(), ...(withByok?.providersBySlug.values() ?? [])]
  const slugs = [...new Set(providers.map(({ slug }) => slug))]
  return FIELDS.flatMap((field) =>
    (preferences[field] ?? NONE)
      .filter((name) => !providers.some((provider) => isNameOf(name, provider)))
      .map((name) => ({ field, name, nearest: nearestNames(name, slugs, 3) })),
  )
}

const NONE: never[] = []

const isNameOf = (name: string, { slug, name: displayName }: ProviderRecord): boolean =>
  name === slug || name.startsWith(`${slug}/`) || name === displayName.toLowerCase()
