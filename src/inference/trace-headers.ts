import { traceparentOf } from '../core/trace-context.ts'
import { spanIdOf } from '../exporters/span-ids.ts'
import { traceresponseOf } from '../http/reply-headers.ts'
import type { Generation, Opening } from './generation.ts'

type InTrace = Pick<Generation, 'id' | 'opening' | 'tries'>
type Traced = Pick<Opening, 'incoming' | 'caller'>

/** The value of `traceresponse`: the span of the request, if destinations get one. */
export const responseTrace = ({ incoming, caller }: Traced, generationId: string): string =>
  caller.workspace.exports === undefined
    ? traceresponseOf(incoming)
    : traceparentOf(incoming.trace, spanIdOf(generationId, 'request'), true)

/**
 * The trace for a call to a provider. Only for one whose entry allows it, because the ids tell a third party of a system of
 * the caller. `baggage` is never sent on.
 */
export function upstreamTrace({ id, opening: { incoming, caller }, tries }: InTrace): Record<string, string> {
  const { trace } = incoming
  const isSampled = trace.isSampled || caller.workspace.exports !== undefined
  const traceparent = traceparentOf(trace, spanIdOf(id, `attempt:${tries.length}`), isSampled)
  return trace.state === null ? { traceparent } : { traceparent, tracestate: trace.state }
}
