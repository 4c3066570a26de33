import type { DialectName } from '../../core/events.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { Pricing } from '../../core/snapshot.ts'
import type { Usage } from '../../core/usage.ts'
import type { Operation, OperationIngress } from '../../dialects/operation.ts'
import type { Scanners } from '../filters/scanners.ts'
import type { Counted } from '../reply/meter.ts'

/** One kind of inference that is a question and an answer: how it is spoken, and what it uses. */
export interface Task<Request extends RoutedRequest, Result> {
  readonly ingress: OperationIngress<Request, Result>
  /** By dialect of the provider; absent: providers of that dialect do not have it. */
  readonly speakers: Readonly<Partial<Record<DialectName, Operation<Request, Result>>>>
  /** The most that the request can use at these prices. */
  bound(request: Request, pricing: Pricing): Usage
  /** The usage of a reply: `reported` by the provider, else counted or estimated. */
  count(request: Request, result: Result, reported: Usage | null, pricing: Pricing): Counted
  /** The text of a reply, for the content log. */
  logged(result: Result, request: Request): unknown
  /** Equal requests have equal replies, so that they may be cached. */
  readonly isRepeatable?: boolean
  /** The reply as content filters let it pass; absent: it contains no text. `drop` gets the names of omitted fields. */
  filtered?(result: Result, scanners: Scanners, drop: (name: string) => void): Result
}
