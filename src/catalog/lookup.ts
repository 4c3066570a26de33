import { notFound } from '../core/errors.ts'
import { isFree } from '../core/pricing.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { findVariant } from '../core/variant.ts'
import { endpointsOf, type Offered, type OfferedEndpoint, offeredOf } from './listing.ts'

const MOST_SHOWN = 120

/**
 * A model by id, canonical slug, alias or its provider's own name, a variant suffix allowed; through its free endpoints
 * with `:free`. Throws a 404 that names the three nearest.
 */
export function lookUp(name: string, snapshot: Snapshot): Offered {
  const { models } = snapshot.shown ?? snapshot
  const found = findVariant(name, models)
  if (found === undefined) throw unknownModel(name, snapshot)
  const { model, variant } = found
  const mustBeFree = variant === 'free'
  const endpoints = endpointsOf(model, snapshot)
  const offered = offeredOf(model, mustBeFree ? endpoints.filter(isFreeEndpoint) : endpoints)
  if (offered !== null) return offered
  throw notFound(`No configured provider offers ${shown(name)}${mustBeFree ? ' for free' : ''}`)
}

const isFreeEndpoint = ({ record: { pricing } }: OfferedEndpoint): boolean =>
  pricing !== null && isFree(pricing)

function unknownModel(name: string, { models }: Snapshot): Error {
  const nearest = models.nearest(name, 3)
  const hint = nearest.length > 0 ? `. The nearest names are ${nearest.join(', ')}` : ''
  if (!models.isKnown(name)) return notFound(`There is no model ${shown(name)}${hint}`)
  return notFound(
    `The model ${shown(name)} is known, but no provider that offers it is configured here${hint}`,
  )
}

const shown = (name: string): string => JSON.stringify(name.slice(0, MOST_SHOWN))
