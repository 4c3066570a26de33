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
  /** What an answer used: `told` by the provider, else counted or guessed. */
  count(request: Request, result: Result, told: Usage | null, pricing: Pricing): Counted
  /** What an answer says, for the log of contents. */
  said(result: Result, request: Request): unknown
  /** The same question has the same answer: it may be kept and given again. */
  readonly isRepeatable?: boolean
  /** What content filters leave of the answer; absent: it holds no text. `drop` is told the names of what is left out. */
  filtered?(result: Result, scanners: Scanners, drop: (name: string) => void): Result
}
