import { GatewayError } from '../../core/errors.ts'
import { newGenerationId } from '../../core/ids.ts'
import { deferLine } from '../../http/access-log.ts'
import { freeBody } from '../../http/body-budget.ts'
import { publicError } from '../../http/envelope.ts'
import { textReply } from '../../http/text-reply.ts'
import {
  beginConversation,
  type ConversationOpening,
  completeReply,
  streamedReply,
} from '../conversation/run.ts'
import type { RunDeps } from '../generation.ts'
import { withPlugins } from '../plugins/apply.ts'
import { type Active, enabledPlugins } from '../plugins/enabled.ts'
import { jsonHeaders, streamHeaders } from '../reply/headers.ts'
import { streamOnceComing, streamResponse } from '../reply/stream.ts'
import type { TextStream } from '../reply/text-stream.ts'
import { withDelegation } from '../routing/delegation.ts'
import { responseTrace } from '../trace-headers.ts'
import { inStream, withRouting } from '../upstream/failure.ts'

/** Lets plugins change a conversation, admits it and encodes its reply, in one piece or as a stream. */
export function answer(received: ConversationOpening, deps: RunDeps): Promise<Response> {
  const opening = withDelegation(received)
  const active = enabledPlugins(opening.request, opening.caller, deps.plugins)
  if (active.length === 0) return answerAsAsked(opening, deps)
  return answerWithPlugins({ ...opening, id: newGenerationId() }, active, deps)
}

async function answerAsAsked(opening: ConversationOpening, deps: RunDeps): Promise<Response> {
  const beginning = beginConversation(opening, deps)
  const generation = beginning instanceof Promise ? await beginning : beginning
  const response = opening.request.stream
    ? await streamResponse(await streamedReply(generation, opening), opening.ingress.stream)
    : textReply(await completeReply(generation, opening), jsonHeaders(generation))
  deferLine(opening.incoming)
  return response
}

async function streamOf(opening: ConversationOpening, deps: RunDeps): Promise<TextStream> {
  const beginning = beginConversation(opening, deps)
  return streamedReply(beginning instanceof Promise ? await beginning : beginning, opening)
}

type Named<Opened> = Opened & { readonly id: string }

async function answerWithPlugins(
  opening: Named<ConversationOpening>,
  active: readonly Active[],
  deps: RunDeps,
): Promise<Response> {
  const { id, request, incoming, ingress } = opening
  if (!request.stream) return plugged(opening, active, deps, (changed) => answerAsAsked(changed, deps))
  let isEarly = false
  const response = await streamOnceComing({
    coming: plugged(opening, active, deps, (changed) => streamOf(changed, deps)),
    ticker: deps.ticker,
    form: ingress.stream,
    headers(mediaType) {
      isEarly = true
      return streamHeaders({ id, request, opening, cached: undefined }, mediaType)
    },
    failed: (error) => errorEvent(opening, publicError(error), deps),
  })
  // No generation may follow an early reply, so its line is written at once.
  if (!isEarly) deferLine(incoming)
  return response
}

/** Continues with the opening as its plugins leave it. Errors name the generation whose steps have run. */
export async function plugged<Opened extends Omit<ConversationOpening, 'ingress'>, Result>(
  opening: Named<Opened>,
  active: readonly Active[],
  deps: RunDeps,
  next: (opening: Named<Opened>) => Promise<Result>,
): Promise<Result> {
  try {
    return await next(await withPlugins(opening, active, deps))
  } catch (error) {
    freeBody(opening.incoming.body)
    if (!(error instanceof GatewayError)) throw error
    throw withRouting(error, error.routing ?? null, {
      'x-generation-id': opening.id,
      traceresponse: responseTrace(opening, opening.id),
    })
  }
}

/** The error of an early reply, which has no generation. */
function errorEvent(
  { id, request, ingress, incoming, startedAt }: Named<ConversationOpening>,
  error: GatewayError,
  { onLost }: RunDeps,
): string {
  if (error.cause !== undefined && error.status >= 500) onLost(error, id, incoming.trace)
  const writer = ingress.writeStream({
    generationId: id,
    created: Math.floor(startedAt / 1000),
    model: request.models[0] ?? '',
    providerName: '',
    request,
    hideReasoning: false,
    routing: () => error.routing ?? null,
  })
  return writer.fail(inStream(error))
}
