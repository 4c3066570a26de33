import type { DataPolicy } from '../core/data-policy.ts'
import type { EndpointRecord, ProviderFacts, ProviderKind } from '../core/snapshot.ts'

/** The names, each with this quantization. */
export const quantized = (quantization: string, names: readonly string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, quantization]))

/**
 * What a vendor publishes about its API with the settings of a new account. Only what the sources say: an absent field is
 * unknown, also where it depends on the account's plan. What an account has agreed, its operator declares.
 */
export interface PublishedFacts extends ProviderFacts {
  readonly slug: string
  /** The facts hold at these hosts and their subdomains, and nowhere else. */
  readonly hosts: readonly [string, ...string[]]
  /** Regions that prompts do not leave, at some of the hosts. */
  readonly regionsAt?: Readonly<Record<string, readonly string[]>>
  /** Absent: `compatible`. */
  readonly kind?: ProviderKind
  readonly dataPolicy: DataPolicy
  /** How the weights of its models are stored, by its names of them. */
  readonly quantizations?: Readonly<Record<string, string>>
  /** True for endpoints of which nothing is known: the vendor passes them to others, or treats them otherwise. */
  readonly isExcepted?: (endpoint: EndpointRecord) => boolean
  /** What of the sources the fields cannot say. */
  readonly note?: string
  /** When the sources were last read; absent: `READ_AT`. */
  readonly readAt?: string
  readonly sources: readonly [string, ...string[]]
}
