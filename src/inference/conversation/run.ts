import type { JsonObject } from '../../core/events.ts'
import { retainsNothing } from '../../core/guardrail.ts'
import { jsonInSteps } from '../../core/json-steps.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { InferenceResult, ReplyContext } from '../../core/result.ts'
import { turnAfterLong, turnOfLoop } from '../../core/turn.ts'
import type { Ingress } from '../../dialects/dialect.ts'
import { admit, tokensOf } from '../admission/admit.ts'
import { estimatePrompt } from '../admission/estimate.ts'
import { metered } from '../filters/output/apply.ts'
import type { Conversation, Opening, RunDeps } from '../generation.ts'
import { begin, end } from '../pipeline.ts'
import { createMeter } from '../reply/meter.ts'
import type { ResponseRecorder } from '../reply/recorder.ts'
import { createTextStream, type TextStream } from '../reply/text-stream.ts'
import { createToolWatch } from '../reply/tool-watch.ts'
import { needsOf } from '../routing/needs.ts'
import { fail, metadataOf, settle } from '../settle.ts'
import { facilitiesOf } from '../steps/facilities.ts'
import { newStepTotals, withSteps } from '../steps/family.ts'
import { toolAccessOf } from '../tools/access.ts'
import { checkAllowed } from '../tools/allowed.ts'
import { checkApprovals } from '../tools/approvals.ts'
import { createToolLoop } from '../tools/loop.ts'
import { hasMcp, type McpRequest, mcpRequestOf } from '../tools/mcp.ts'
import { withMcpServers } from '../tools/mcp-servers.ts'
import { withNativeSearch } from '../tools/native-search.ts'
import { checksOf, type ToolRequest, toolRequestOf } from '../tools/requested.ts'
import { mayRetain } from '../upstream/context-cache/apply.ts'
import { dispatch } from '../upstream/dispatch.ts'
import type { Dispatched } from '../upstream/first-content.ts'
import { hedgeable } from '../upstream/hedge.ts'
import { shortenedUpTo } from '../upstream/shorten.ts'
import { runToEnd } from './to-end.ts'

/** A conversation as its route has read it. */
export interface ConversationOpening extends Opening<InferenceRequest> {
  readonly ingress: Ingress
  /** Present if the reply is stored. */
  readonly recorder?: ResponseRecorder | undefined
}

/** Plans and admits a conversation; see `begin`. */
export function beginConversation(
  received: Opening<InferenceRequest>,
  deps: RunDeps,
): Conversation | Promise<Conversation> {
  const listed = withMcpServers(received.request, received.caller, deps.mcp)
  if (listed.tools.length === 0) {
    checkApprovals(listed)
    return beginStep(received, deps)
  }
  if (listed.delegated?.tools) {
    checkAllowed(listed.tools, received.caller)
    return beginStep(received, deps)
  }
  const request = withNativeSearch(listed, received.snapshot)
  const opening = request === received.request ? received : { ...received, request }
  if (!hasMcp(request)) return beginWithTools(opening, null, deps)
  checkAllowed(request.tools, opening.caller)
  return mcpRequestOf(request, deps.mcp).then((mcp) => beginWithTools(opening, mcp, deps))
}

function beginWithTools(
  opening: Opening<InferenceRequest>,
  mcp: McpRequest | null,
  deps: RunDeps,
): Conversation | Promise<Conversation> {
  const access = toolAccessOf(opening.caller, opening.snapshot, deps)
  const asked = toolRequestOf(opening.request, opening.caller, access, mcp)
  if (asked === null) {
    checkApprovals(opening.request)
    return beginStep(opening, deps)
  }
  const checks = checksOf(asked, access)
  if (checks === null) return beginLoop(opening, asked, deps)
  return checks.then(
    () => beginLoop(opening, asked, deps),
    (error: unknown) => {
      mcp?.close()
      throw error
    },
  )
}

/** The first step of a request with tools. */
function beginLoop(
  opening: Opening<InferenceRequest>,
  asked: ToolRequest,
  deps: RunDeps,
): Conversation | Promise<Conversation> {
  const steps = opening.steps ?? newStepTotals()
  const first = beginStep({ ...opening, request: asked.request, steps, cache: undefined }, deps)
  const openStep = (step: Opening<InferenceRequest>) => beginStep(step, deps)
  const looped = (generation: Conversation): Conversation => {
    generation.loop = createToolLoop(generation, steps, asked, openStep, (family) =>
      facilitiesOf(family, deps, beginConversation),
    )
    return generation
  }
  return first instanceof Promise ? first.then(looped) : looped(first)
}

/** Plans and admits one generation. */
function beginStep(opening: Opening<InferenceRequest>, deps: RunDeps): Conversation | Promise<Conversation> {
  const { request, caller, startedAt } = opening
  const mayCacheSeparately =
    deps.contexts !== null && mayRetain(request.preferences) && !retainsNothing(caller.key)
  const prompt = estimatePrompt(request, mayCacheSeparately)
  return begin<Conversation['meter'], InferenceRequest>(
    // An echo shows the body sent to a provider, and a cache hit sends none.
    hedgeable(request.echoUpstreamBody && opening.cache ? { ...opening, cache: undefined } : opening, deps),
    {
      needs: needsOf(request, prompt, shortenedUpTo(request, caller)),
      meter: metered(createMeter(deps.now, startedAt, createToolWatch(request.tools)), caller.key, request),
      tokens: () => tokensOf(request, prompt),
      admit: (attempts, claiming) => admit(request, prompt, attempts, claiming),
    },
    deps,
  )
}

/** The complete reply as JSON in the caller's dialect, after its settlement. Throws the caller's error. */
export async function completeReply(
  generation: Conversation,
  { ingress, recorder }: ConversationOpening,
): Promise<string> {
  try {
    if (recorder) await recorder.begin(unansweredContext(generation))
    const { dispatched, result } = await runToEnd(generation, ingress.gather)
    const closing = withSteps(await settle(generation, 'complete'), generation)
    const writtenAt = performance.now()
    const reply = ingress.writeReply(result, replyContext(generation, dispatched), closing)
    const turn = turnAfterLong(writtenAt)
    if (turn) await turn
    if (recorder) await record(recorder, reply)
    return lengthOf(result) > SHORT_CHARACTERS ? await longJson(reply) : JSON.stringify(reply)
  } catch (error) {
    throw await fail(generation, error)
  } finally {
    end(generation)
  }
}

/** Characters of a reply that is written in one step. */
const SHORT_CHARACTERS = 1024 * 1024

const lengthOf = ({ choices }: InferenceResult): number =>
  choices.reduce(
    (sum, { text, reasoning, toolCalls }) =>
      toolCalls.reduce(
        (before, call) => before + call.arguments.length,
        sum + text.length + reasoning.length,
      ),
    0,
  )

/** As `JSON.stringify` writes it, in steps. */
async function longJson(reply: JsonObject): Promise<string> {
  const json = (await jsonInSteps(reply)).join('')
  await turnOfLoop()
  return json
}

async function record(recorder: ResponseRecorder, reply: JsonObject): Promise<void> {
  const startedAt = performance.now()
  await recorder.end('complete', reply)
  await turnAfterLong(startedAt)
}

/** The reply as a stream in the caller's dialect. Rejects with the caller's error if it fails before the stream starts. */
export async function streamedReply(
  generation: Conversation,
  { ingress, recorder }: ConversationOpening,
): Promise<TextStream> {
  try {
    if (recorder) await recorder.begin(unansweredContext(generation))
    const starting = generation.loop ? generation.loop.start() : dispatch(generation)
    return createTextStream({
      generation,
      starting,
      recorder,
      open: (started) => ingress.writeStream(replyContext(generation, started)),
      unansweredWriter: () => ingress.writeStream(unansweredContext(generation)),
    })
  } catch (error) {
    const failure = await fail(generation, error)
    end(generation)
    throw failure
  }
}

function replyContext(generation: Conversation, { attempt }: Dispatched): ReplyContext {
  const { id, startedAt, request } = generation
  return {
    generationId: id,
    created: Math.floor(startedAt / 1000),
    model: attempt.model.id,
    providerName: attempt.provider.name,
    request,
    hideReasoning: request.reasoning?.exclude === true,
    routing: () => metadataOf(generation),
  }
}

/** The context of an error event before any reply: the model of the current attempt. */
function unansweredContext(generation: Conversation): ReplyContext {
  const { id, startedAt, request, current, attempts } = generation
  const attempt = current ?? attempts[0]
  return {
    generationId: id,
    created: Math.floor(startedAt / 1000),
    model: attempt?.model.id ?? request.models[0] ?? '',
    providerName: attempt?.provider.name ?? '',
    request,
    hideReasoning: false,
    routing: () => metadataOf(generation),
  }
}
