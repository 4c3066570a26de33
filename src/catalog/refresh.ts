import { badRequest } from '../core/errors.ts'
import { turnOfLoop } from '../core/turn.ts'
import { type CatalogDiff, diffOf } from './diff.ts'
import { composeSeed } from './facts/compose.ts'
import { readDocument } from './facts/document.ts'
import { loadListed } from './facts/listed.ts'
import { documentProblems } from './facts/problems.ts'
import type { Seed } from './seed.ts'
import type { CatalogInUse, RefreshedCatalog } from './store.ts'

/** The changes that a refresh would make. */
export interface Proposal {
  readonly seed: Seed
  readonly diff: CatalogDiff
  /** Of the catalogue that would be used: the same facts give the same digest. */
  readonly digest: string
}

/**
 * The catalogue of a document in the models.dev form, and its differences to the one in use. Throws a 400 that names every
 * problem (ten at most): a document with a problem is rejected completely. The work takes a tenth of a second and runs in
 * slices, so that running streams do not pause that long.
 */
export async function proposalOf(document: unknown, inUse: CatalogInUse): Promise<Proposal> {
  const problems = documentProblems(document)
  if (problems.length > 0) {
    const text = problems.map(({ path, message }) => `${path} ${message}`).join('; ')
    throw badRequest(`The document is rejected and the catalogue does not change: ${text}`)
  }
  await turnOfLoop()
  const facts = readDocument(document)
  const listed = loadListed()
  await turnOfLoop()
  const seed = composeSeed(facts, listed)
  await turnOfLoop()
  return proposalFor(seed, inUse)
}

export const proposalFor = (seed: Seed, inUse: CatalogInUse): Proposal => ({
  seed,
  diff: diffOf(inUse.seed, seed),
  digest: new Bun.CryptoHasher('sha256').update(JSON.stringify(seed)).digest('hex'),
})

/** Stores a proposal. Models that it no longer has stay known by name. */
export function refreshedBy(
  { seed }: Proposal,
  source: string,
  now: number,
  { seed: former, refreshed }: CatalogInUse,
): RefreshedCatalog {
  const kept = new Set(seed.models.map(({ id }) => id))
  const earlier = [...former.models.map(({ id }) => id), ...(refreshed?.retired ?? [])]
  const retired = [...new Set(earlier)].filter((id) => !kept.has(id)).sort()
  return { seed, source, refreshedAt: now, retired }
}
