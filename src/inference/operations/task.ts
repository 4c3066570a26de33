import type { DialectName } from '../../core/events.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { Pricing } from '../../core/snapshot.ts'
import type { Usage } from '../../core/usage.ts'
import type { Operation, OperationIngress } from '../../dialects/operation.ts'
import type { Scanners } from '../filters/scanners.ts'
import type { Counted } from '../reply/meter.ts'
import type { Needs } from '../routing/needs.ts'

/** An operation with one request and one reply: its wire formats, and its usage. */
export interface Task<Request extends RoutedRequest, Result> {
  readonly ingress: OperationIngress<Request, Result>
  /** By egress dialect; absent: the dialect does not support it. */
  readonly egresses: Readonly<Partial<Record<DialectName, Operation<Request, Result>>>>
  /** What its endpoint must have; absent: nothing. */
  needs?(request: Request): Needs
  /** The maximum usage of a request, in the units that these prices charge for. */
  bound(request: Request, pricing: Pricing): Usage
  /** The usage of a reply: `reported` by the provider, else counted or estimated. */
  count(request: Request, result: Result, reported: Usage | null, pricing: Pricing): Counted
  /** The text of a reply, for the content log. */
  logged(result: Result, request: Request): unknown
  /** Equal requests have equal replies, so that they may be cached. */
  readonly isRepeatable?: boolean
  /** Applies output filters; absent if replies contain no text. Calls `drop` with the names of omitted fields. */
  filtered?(result: Result, scanners: Scanners, drop: (name: string) => void): Result
}
