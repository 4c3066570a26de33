import type { Attempt } from '../../core/attempt.ts'
import type { Caller } from '../../core/caller.ts'
import type { DialectName } from '../../core/events.ts'
import type { EndpointMeasurements } from '../../core/measurements.ts'
import type { InferenceRequest, RoutedRequest } from '../../core/request.ts'
import type { EndpointRecord, ProviderRecord, Snapshot } from '../../core/snapshot.ts'
import type { Cooldown } from './health.ts'
import type { Needs } from './needs.ts'
import type { Recent } from './recent.ts'

/** The parts of a conversation that routing reads; absent for other requests. */
export type RequestFeatures = Partial<
  Pick<InferenceRequest, 'messages' | 'sampling' | 'tools' | 'choiceCount' | 'modalities' | 'reasoning'>
>

export interface PlanInput {
  request: RoutedRequest & RequestFeatures
  caller: Caller
  snapshot: Snapshot
  now: number
  /** See `Health`. */
  cooldownOf(attempt: Attempt, isOnly: boolean): Cooldown | null
  /** Measurements of the last half hour; absent: nothing is measured. */
  measured?(endpointId: string): EndpointMeasurements | null
  /** For sorting by latency, throughput and tool calls; absent: nothing is measured. */
  recent?(endpointId: string): Recent | undefined
  /** Calls in flight to a provider; absent: none. */
  inFlight?(providerSlug: string): number
  /** The endpoint that answered a conversation last; absent: none is known. */
  answeredBy?(conversation: number): string | undefined
  /** Why a dialect does not support the request, to complete "<provider> …"; null if it does. Absent: every one does. */
  refusal?(dialect: DialectName, endpoint: EndpointRecord, provider: ProviderRecord): string | null
  /** The request's needs; absent: none. */
  needs?: Needs | undefined
  /** In [0, 1). Distributes requests over equal endpoints. */
  random(): number
}
