import type { Ingress } from '../dialects/dialect.ts'
import { CallerLeft } from './abort.ts'
import type { Dispatched } from './dispatch.ts'
import type { Exchange } from './exchange.ts'
import { failed, type RunDeps } from './opening.ts'
import { type StreamInput, streamReply } from './stream.ts'
import { TIMED_OUT } from './ticker.ts'

/** Silence that is kept before a stream commits to 200: an earlier failure keeps a status of its own. */
export const SILENCE_MS = 5_000

export interface RelayInput
  extends Pick<
    StreamInput,
    'exchange' | 'upstreamAbort' | 'callerSignal' | 'keeper' | 'open' | 'failureWriter' | 'ended'
  > {
  deps: RunDeps
  /** How the stream is sent; absent: as server-sent events. */
  form?: Ingress['stream'] | undefined
  /** What must be done before anybody is asked. */
  begin?(): Promise<void> | undefined
  /** Asks; resolves with the first content. */
  start(): Promise<Dispatched>
}

/** A streamed reply of any kind, from the first try to its end. */
export async function relay(input: RelayInput): Promise<Response> {
  const { deps, exchange, upstreamAbort, callerSignal, keeper } = input
  const leave = () => upstreamAbort.abort(new CallerLeft())
  if (callerSignal.aborted) leave()
  callerSignal.addEventListener('abort', leave, { once: true })
  let starting: Promise<Dispatched>
  let isLate = false
  try {
    await input.begin?.()
    starting = input.start()
    if (!keeper?.isDetached) isLate = (await deps.ticker.within(starting, SILENCE_MS)) === TIMED_OUT
  } catch (error) {
    callerSignal.removeEventListener('abort', leave)
    throw await failed(error, exchange, upstreamAbort.signal, deps)
  }
  const body = streamReply({
    exchange,
    upstreamAbort,
    callerSignal,
    ...(input.form && { keepAlive: input.form.keepAlive }),
    keeper,
    open: input.open,
    failureWriter: input.failureWriter,
    starting,
    isLate,
    ticker: deps.ticker,
    onLost: (error) => deps.onLost(error, exchange.generationId),
    ended: () => {
      callerSignal.removeEventListener('abort', leave)
      input.ended()
    },
  })
  return new Response(body, { headers: streamHeaders(exchange, input.form?.mediaType) })
}

const streamHeaders = (
  { generationId, cached }: Exchange,
  mediaType = 'text/event-stream',
): Record<string, string> => ({
  'content-type': mediaType,
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  'x-generation-id': generationId,
  ...cached?.headers,
})
