import { retainsNothing } from '../core/guardrail.ts'
import type { InferenceRequest } from '../core/request.ts'
import type { ReplyContext } from '../core/result.ts'
import { turnAfterLong } from '../core/turn.ts'
import type { Ingress } from '../dialects/dialect.ts'
import { jsonReply } from '../http/json-reply.ts'
import { CallerLeft } from './abort.ts'
import { admit, tokensOf } from './admission.ts'
import { throughCache } from './cache/conversation.ts'
import { collect } from './collect.ts'
import { mayKeep } from './context-cache/apply.ts'
import { type Dispatched, dispatch } from './dispatch.ts'
import { estimatePrompt } from './estimate.ts'
import type { Exchange } from './exchange.ts'
import { guarded, isGuarding, metered } from './filters/output.ts'
import type { Keeper } from './keeper.ts'
import { createMeter } from './meter.ts'
import { failed, jsonHeaders, type Opening, type RunDeps, withExchange } from './opening.ts'
import type { PromptBound } from './price.ts'
import { relay } from './relay.ts'

export type { RunDeps }

export interface RunInput extends Opening<InferenceRequest> {
  ingress: Ingress
  /** Present where the reply is kept. */
  keeper?: Keeper
}

/** The whole story of one inference: plan, reserve, forward, relay, settle. */
export async function run(input: RunInput, deps: RunDeps): Promise<Response> {
  const { request, caller, startedAt } = input
  // An echo is of what was sent upstream, which is nothing where an answer is given again.
  const opening = request.echoUpstreamBody ? { ...input, cache: undefined } : input
  // Once: limits on tokens and on money both ask for it.
  let estimated: PromptBound | undefined
  const prompt = (): PromptBound => {
    estimated ??= {
      ...estimatePrompt(request),
      mayBeApart: deps.contexts !== null && mayKeep(request.preferences) && !retainsNothing(caller.key),
    }
    return estimated
  }
  return withExchange(opening, deps, {
    meter: metered(createMeter(deps.now, startedAt), caller.key, request),
    tokens: () => tokensOf(request, prompt()),
    admit: (attempts, claiming) => admit(request, prompt(), attempts, claiming),
    answer: (exchange, upstreamAbort, end) =>
      request.stream
        ? runStream(input, deps, exchange, upstreamAbort, end)
        : runUnary(input, deps, exchange, upstreamAbort, end),
  })
}

async function runUnary(
  { request, ingress, signal, keeper }: RunInput,
  deps: RunDeps,
  exchange: Exchange,
  upstreamAbort: AbortController,
  end: () => void,
): Promise<Response> {
  const leave = () => upstreamAbort.abort(new CallerLeft())
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    if (keeper) await keeper.begin(unansweredContext(exchange, request))
    const ask = () => asked(request, deps, exchange, upstreamAbort)
    const started = await throughCache(exchange, ask, ingress.gather)
    exchange.dropped = started.dropped
    const result = await collect(started.frames, exchange.meter.see)
    exchange.content?.take(result)
    const closing = await exchange.settle('whole')
    const writtenAt = performance.now()
    const body = ingress.writeReply(result, replyContext(exchange, started, request), closing)
    await turnAfterLong(writtenAt)
    const keptAt = performance.now()
    if (keeper) await keeper.end('whole', body)
    await turnAfterLong(keptAt)
    const text = JSON.stringify(body)
    await turnAfterLong(keptAt)
    return jsonReply(text, jsonHeaders(exchange))
  } catch (error) {
    throw await failed(error, exchange, upstreamAbort.signal, deps)
  } finally {
    signal.removeEventListener('abort', leave)
    end()
  }
}

async function runStream(
  input: RunInput,
  deps: RunDeps,
  exchange: Exchange,
  upstreamAbort: AbortController,
  end: () => void,
): Promise<Response> {
  const { request, ingress, signal, keeper } = input
  return relay({
    deps,
    exchange,
    upstreamAbort,
    callerSignal: signal,
    keeper,
    form: ingress.stream,
    begin: () => keeper?.begin(unansweredContext(exchange, request)),
    start: () => throughCache(exchange, () => asked(request, deps, exchange, upstreamAbort)),
    open: (started) => ({
      writer: ingress.writeStream(replyContext(exchange, started, request)),
      echoed: request.echoUpstreamBody ? exchange.log.sentBodies : [],
    }),
    failureWriter: () => ingress.writeStream(unansweredContext(exchange, request)),
    ended: end,
  })
}

/** The answer of who answered, as the content filters of the caller's key let it pass. */
function asked(
  request: InferenceRequest,
  deps: RunDeps,
  { attempts, log, meter }: Exchange,
  upstreamAbort: AbortController,
): Promise<Dispatched> {
  const starting = dispatch(request, attempts, deps, upstreamAbort.signal, log)
  return isGuarding(meter) ? starting.then((started) => guarded(meter, started, upstreamAbort)) : starting
}

function replyContext(exchange: Exchange, { attempt }: Dispatched, request: InferenceRequest): ReplyContext {
  return {
    generationId: exchange.generationId,
    created: Math.floor(exchange.startedAt / 1000),
    model: attempt.model.id,
    providerName: attempt.provider.name,
    request,
    hideReasoning: request.reasoning?.exclude === true,
    routing: exchange.metadata,
  }
}

/** For an error event before any endpoint answered: the first choice stands for the model. */
function unansweredContext(exchange: Exchange, request: InferenceRequest): ReplyContext {
  const attempt = exchange.log.current ?? exchange.attempts[0]
  return {
    generationId: exchange.generationId,
    created: Math.floor(exchange.startedAt / 1000),
    model: attempt?.model.id ?? request.models[0] ?? '',
    providerName: attempt?.provider.name ?? '',
    request,
    hideReasoning: false,
    routing: exchange.metadata,
  }
}
