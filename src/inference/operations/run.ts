import type { Attempt } from '../../core/attempt.ts'
import { OverBudget } from '../../core/content-filter.ts'
import type { DialectName, JsonObject } from '../../core/events.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { Operation, OperationContext, OperationReply } from '../../dialects/operation.ts'
import { readErrorReply } from '../../dialects/read-error.ts'
import { jsonReply } from '../../http/json-reply.ts'
import { CallerLeft } from '../abort.ts'
import { admitUnits, tokensOfUnits } from '../admission.ts'
import { type Asking, tryAttempts } from '../attempts.ts'
import { keepReply, keptReply } from '../cache/operation.ts'
import type { Exchange } from '../exchange.ts'
import { answerBlocked, told } from '../filters/findings.ts'
import { createScanners, type Scanners } from '../filters/scanners.ts'
import { KINDS } from '../kinds.ts'
import type { Metering } from '../meter.ts'
import { failed, jsonHeaders, type Opening, type RunDeps, withExchange } from '../opening.ts'
import type { PlanInput } from '../plan.ts'
import type { Task } from './task.ts'
import { createUnitMeter, type UnitMeter } from './unit-meter.ts'

/** The whole story of one question and its one answer: plan, reserve, forward, settle, answer. */
export async function runOperation<Request extends RoutedRequest, Result>(
  input: Opening<Request>,
  task: Task<Request, Result>,
  deps: RunDeps,
): Promise<Response> {
  const { request, caller, startedAt } = input
  const bound = (pricing: Parameters<typeof task.bound>[1]) => task.bound(request, pricing)
  const scanners = task.filtered ? createScanners(caller.key.guardrails) : null
  const meter = createUnitMeter(deps.now, startedAt, bound)
  return withExchange(input, deps, {
    refusal: refusalOf(request, task),
    meter: scanners === null ? meter : told(meter, scanners),
    tokens: (attempts) => tokensOfUnits(bound, attempts),
    admit: (attempts, claiming) => admitUnits(bound, attempts, claiming),
    answer: (exchange, upstreamAbort, end) =>
      whileConnected(input.signal, upstreamAbort, end, () =>
        answerOnce(input, task, deps, exchange, upstreamAbort.signal, scanners),
      ),
  })
}

interface Refusing<Request> {
  cannot?(request: Request): string | null
}

/** What stands against asking for it in a dialect. */
export const refusalOf =
  <Request extends RoutedRequest>(
    request: Request,
    { speakers }: { speakers: Readonly<Partial<Record<DialectName, Refusing<Request>>>> },
  ): NonNullable<PlanInput['refusal']> =>
  (dialect) => {
    const operation = speakers[dialect]
    if (!operation)
      return `is spoken to in the dialect ${dialect}, which has no ${KINDS[request.apiType].purpose}`
    return operation.cannot?.(request) ?? null
  }

/** A caller that goes away ends what is asked for it. */
export async function whileConnected<Value>(
  signal: AbortSignal,
  upstreamAbort: AbortController,
  end: () => void,
  work: () => Promise<Value>,
): Promise<Value> {
  const leave = () => upstreamAbort.abort(new CallerLeft())
  if (signal.aborted) leave()
  signal.addEventListener('abort', leave, { once: true })
  try {
    return await work()
  } finally {
    signal.removeEventListener('abort', leave)
    end()
  }
}

async function answerOnce<Request extends RoutedRequest, Result>(
  { request }: Opening<Request>,
  task: Task<Request, Result>,
  deps: RunDeps,
  exchange: Exchange<UnitMeter>,
  signal: AbortSignal,
  scanners: Scanners | null,
): Promise<Response> {
  try {
    const asking = askingFor(request, task)
    const answered =
      keptReply<Result>(exchange) ??
      (await tryAttempts(asking, exchange.attempts, deps, signal, exchange.log))
    const { result, upstreamId, usage } = answered.answer
    const dropped = [...answered.dropped]
    exchange.dropped = dropped
    exchange.meter.take(upstreamId, (pricing) => task.count(request, result, usage, pricing))
    const shown = scanners === null ? result : passed(result, task, scanners, dropped)
    const blocked = scanners?.isBlocked ? answerBlocked(scanners) : null
    if (blocked) exchange.content?.fail(blocked)
    else exchange.content?.say(task.said(shown, request))
    const closing = await exchange.settle('whole')
    if (blocked) throw blocked
    keepReply(exchange, answered)
    const body = task.ingress.writeReply(
      shown,
      contextOf(request, exchange, answered.attempt, answered.answer.native ?? {}),
      closing,
    )
    return jsonReply(JSON.stringify(body), jsonHeaders(exchange))
  } catch (error) {
    throw await failed(error, exchange, signal, deps)
  }
}

/** What would take too long to look through is blocked as well. */
function passed<Request extends RoutedRequest, Result>(
  result: Result,
  { filtered }: Task<Request, Result>,
  scanners: Scanners,
  dropped: string[],
): Result {
  try {
    return filtered?.(result, scanners, (name) => dropped.push(name)) ?? result
  } catch (error) {
    if (!(error instanceof OverBudget)) throw error
    scanners.giveUp()
    return result
  }
}

function askingFor<Request extends RoutedRequest, Result>(
  request: Request,
  { speakers }: Task<Request, Result>,
): Asking<OperationReply<Result>> {
  const operationOf = ({ dialect }: Attempt): Operation<Request, Result> => {
    const operation = speakers[dialect]
    if (!operation) throw new Error(`planned in the dialect ${dialect}, which does not have it`)
    return operation
  }
  return {
    build: (attempt) => operationOf(attempt).build(request, attempt),
    async read(reply, attempt) {
      const answer = await operationOf(attempt).read(reply, request, attempt)
      return { answer, upstreamId: answer.upstreamId }
    },
    readError: (_, status, headers, text) => readErrorReply(status, headers, text),
  }
}

/** What a writer must know beside the result; without an attempt the model is the one that was asked for. */
export const contextOf = <Request extends RoutedRequest>(
  request: Request,
  exchange: Exchange<Metering>,
  attempt: Attempt | undefined,
  native: JsonObject,
): OperationContext<Request> => ({
  generationId: exchange.generationId,
  created: Math.floor(exchange.startedAt / 1000),
  model: attempt?.model.id ?? request.models[0] ?? '',
  providerName: attempt?.provider.name ?? '',
  request,
  native,
  routing: exchange.metadata,
})
