import type { FilterRules } from '../db/filter-rules.ts'
import type { DestinationConfig, DestinationType } from '../exporters/destination-types.ts'

/** A destination with its opened config, as the thread of the delivery has it. It is never written anywhere. */
export interface Destination {
  readonly id: string
  /** Null: generations of all workspaces, which is our own telemetry. */
  readonly workspaceId: string | null
  readonly name: string
  readonly type: DestinationType
  readonly config: DestinationConfig
  /** False as well if its workspace has switched delivery off. */
  readonly enabled: boolean
  readonly privacyMode: boolean
  readonly samplingRate: number
  readonly apiKeyHashes: readonly string[] | null
  readonly filterRules: FilterRules | null
  readonly regions: readonly string[]
  /** Whether costs, the key and user, and the calling application are sent. */
  readonly cost: boolean
  readonly identity: boolean
  readonly requestContext: boolean
}

/** The id of our own telemetry: see SLUICE_OTLP_ENDPOINT. */
export const OWN_TELEMETRY = 'sluice'
