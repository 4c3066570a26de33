import type { ProviderRecord } from '../core/snapshot.ts'
import type { PublishedFacts } from './published-facts.ts'
import { publishedHosts } from './published-hosts.ts'
import { publishedLabs } from './published-labs.ts'

/** When the sources of rows without a date of their own were last read. */
export const READ_AT = '2026-11-22'

export const publishedFacts: readonly PublishedFacts[] = [...publishedLabs, ...publishedHosts]

/** What the vendor at a provider's address publishes, whatever the provider's slug is. */
export function publishedAt({ kind, baseUrl }: ProviderRecord): PublishedFacts | undefined {
  const host = URL.parse(baseUrl)?.hostname ?? ''
  const facts = publishedFacts.find(
    (one) =>
      (one.kind ?? 'compatible') === kind &&
      one.hosts.some((known) => host === known || host.endsWith(`.${known}`)),
  )
  const regions = facts?.regionsAt?.[host]
  return facts === undefined || regions === undefined ? facts : { ...facts, regions }
}
