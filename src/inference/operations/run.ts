import type { Attempt } from '../../core/attempt.ts'
import { OverBudget } from '../../core/content-filter.ts'
import type { DialectName, JsonObject } from '../../core/events.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { EndpointRecord, ProviderRecord } from '../../core/snapshot.ts'
import type { Operation, OperationContext, OperationReply } from '../../dialects/operation.ts'
import { readErrorReply } from '../../dialects/read-error.ts'
import { textReply } from '../../http/text-reply.ts'
import { admitUnits, tokensOfUnits } from '../admission/admit.ts'
import { answerBlocked, reporting } from '../filters/findings.ts'
import { createScanners, type Scanners } from '../filters/scanners.ts'
import type { Generation, Opening, RunDeps } from '../generation.ts'
import { begin, end } from '../pipeline.ts'
import { jsonHeaders } from '../reply/headers.ts'
import type { Metering } from '../reply/meter.ts'
import { cachedReply, cacheReply } from '../response-cache/operation.ts'
import { KINDS } from '../routing/kinds.ts'
import type { PlanInput } from '../routing/plan-input.ts'
import { fail, metadataOf, settle } from '../settle.ts'
import { type Answered, type CallCodec, tryAttempts } from '../upstream/attempts.ts'
import type { Task } from './task.ts'
import { createUnitMeter, type UnitMeter } from './unit-meter.ts'

/** Serves a task. */
export async function runOperation<Request extends RoutedRequest, Result>(
  opening: Opening<Request>,
  task: Task<Request, Result>,
  deps: RunDeps,
): Promise<Response> {
  const { generation, body } = await runTask(opening, task, deps)
  return textReply(JSON.stringify(body), jsonHeaders(generation))
}

/** Runs a task: plan, admit, dispatch, settle. Throws the caller's error. */
export async function runTask<Request extends RoutedRequest, Result>(
  opening: Opening<Request>,
  task: Task<Request, Result>,
  deps: RunDeps,
) {
  const { request, caller, startedAt } = opening
  const bound = (pricing: Parameters<typeof task.bound>[1]) => task.bound(request, pricing)
  const scanners = task.filtered ? createScanners(caller.key.guardrails) : null
  const meter = createUnitMeter(deps.now, startedAt, bound)
  const generation = await begin<UnitMeter, Request>(
    opening,
    {
      refusal: refusalOf(request, task),
      needs: task.needs?.(request),
      meter: scanners === null ? meter : reporting(meter, scanners),
      tokens: (attempts) => tokensOfUnits(bound, attempts),
      admit: (attempts, claiming) => admitUnits(bound, attempts, claiming),
    },
    deps,
  )
  return { generation, body: await answerOnce(generation, task, scanners) }
}

interface Refusing<Request> {
  cannot?(request: Request, endpoint: EndpointRecord, provider: ProviderRecord): string | null
}

/** Returns why a dialect does not support the request. */
export const refusalOf =
  <Request extends RoutedRequest>(
    request: Request,
    { egresses }: { egresses: Readonly<Partial<Record<DialectName, Refusing<Request>>>> },
  ): NonNullable<PlanInput['refusal']> =>
  (dialect, endpoint, provider) => {
    const operation = egresses[dialect]
    if (!operation)
      return `is called in the dialect ${dialect}, which does not support ${KINDS[request.apiType].purpose}`
    return operation.cannot?.(request, endpoint, provider) ?? null
  }

async function answerOnce<Request extends RoutedRequest, Result>(
  generation: Generation<UnitMeter, Request>,
  task: Task<Request, Result>,
  scanners: Scanners | null,
): Promise<JsonObject> {
  const { request, meter, content } = generation
  try {
    const answered: Answered<OperationReply<Result>> =
      cachedReply<Result>(generation) ?? (await tryAttempts(codecFor(task), generation))
    const { result, upstreamId, usage } = answered.answer
    const dropped = [...answered.dropped]
    generation.dropped = dropped
    meter.take(upstreamId, (pricing) => task.count(request, result, usage, pricing))
    const shown = scanners === null ? result : passed(result, task, scanners, dropped)
    const blocked = scanners?.isBlocked ? answerBlocked(scanners) : null
    if (blocked) content?.fail(blocked)
    else content?.takeReply(task.logged(shown, request))
    const closing = await settle(generation, 'complete')
    if (blocked) throw blocked
    cacheReply(generation, answered, closing.costNanoUsd)
    const context = contextOf(generation, answered.attempt, answered.answer.native ?? {})
    return task.ingress.writeReply(shown, context, closing)
  } catch (error) {
    throw await fail(generation, error)
  } finally {
    end(generation)
  }
}

/** Applies the output filters. A result whose scan exceeds the budget is blocked. */
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
    scanners.stopOverBudget()
    return result
  }
}

function codecFor<Request extends RoutedRequest, Result>({
  egresses,
}: Task<Request, Result>): CallCodec<OperationReply<Result>, Generation<UnitMeter, Request>> {
  const operationOf = ({ dialect }: Attempt): Operation<Request, Result> => {
    const operation = egresses[dialect]
    if (!operation) throw new Error(`planned in the dialect ${dialect}, which does not support the operation`)
    return operation
  }
  return {
    build: (attempt, { request }) => operationOf(attempt).build(request, attempt),
    async read(reply, attempt, { request }) {
      const answer = await operationOf(attempt).read(reply, request, attempt)
      return { answer, upstreamId: answer.upstreamId }
    },
    readError: (_, status, headers, text) => readErrorReply(status, headers, text),
  }
}

/** The context for writing a reply. Without an attempt, the model is the requested one. */
export const contextOf = <Request extends RoutedRequest>(
  generation: Generation<Metering, Request>,
  attempt: Attempt | undefined,
  native: JsonObject,
): OperationContext<Request> => ({
  generationId: generation.id,
  created: Math.floor(generation.startedAt / 1000),
  model: attempt?.model.id ?? generation.request.models[0] ?? '',
  providerName: attempt?.provider.name ?? '',
  request: generation.request,
  native,
  routing: () => metadataOf(generation),
})
