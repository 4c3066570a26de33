import type { Attempt } from '../../core/attempt.ts'
import type { UpstreamError } from '../../core/errors.ts'
import { type DialectName, type InferenceFrame, type InferenceFrames, isContent } from '../../core/events.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { DialectCall, Egress, OptionalPart } from '../../dialects/dialect.ts'
import { egresses } from '../../dialects/index.ts'
import { guarded } from '../filters/output/apply.ts'
import type { Conversation } from '../generation.ts'
import { throughPlugins } from '../plugins/frames.ts'
import { withContents } from '../request/url-contents.ts'
import { type Gather, throughCache } from '../response-cache/conversation.ts'
import { conversationOf } from '../routing/stickiness.ts'
import { type CallCodec, tryAttempts } from './attempts.ts'
import { throughContext } from './context-cache/apply.ts'
import { withWriting } from './context-cache/charge.ts'
import { makeContext } from './context-cache/make.ts'
import { type Dispatched, untilContent } from './first-content.ts'
import { buildRewritten } from './rewritten.ts'
import { shortened } from './shorten.ts'

/** Every dialect that the settings accept has an entry. */
const egressByDialect: Partial<Record<DialectName, Egress>> = egresses

function egressOf({ dialect }: Attempt): Egress {
  const egress = egressByDialect[dialect]
  if (!egress) throw new Error(`the dialect ${dialect} is not implemented`)
  return egress
}

/**
 * The reply to a conversation, from the cache or from the first attempt that delivers content, after the content filters
 * of the caller's key. Throws a `GatewayError` if no attempt succeeds or a provider rejects the request as invalid;
 * rethrows the reason of a cancellation.
 */
export const dispatch = (generation: Conversation, gather?: Gather): Promise<Dispatched> =>
  generation.cached
    ? throughCache(generation, generation.cached, fromProviders, gather)
    : fromProviders(generation)

async function fromProviders(generation: Conversation): Promise<Dispatched> {
  const { attempt, answer, dropped } = await tryAttempts(conversationCodec, generation)
  if (generation.plan.eligible.length > 1) rememberEndpoint(generation, attempt)
  const dispatched = guarded(generation, { attempt, frames: answer, dropped })
  return generation.loop ? dispatched : throughPlugins(generation, dispatched)
}

/** The conversation's next request prefers this endpoint. */
function rememberEndpoint({ deps, request, caller }: Conversation, { endpoint }: Attempt): void {
  const conversation = conversationOf({ request, caller })
  if (conversation !== null) deps.conversations.answered(conversation, endpoint.id)
}

/**
 * `Please use /v1/responses instead` for tools with reasoning, `This model is only supported in v1/responses` (OpenAI,
 * 2026). An endpoint whose error names Responses supports it, even if neither catalogue nor settings list it.
 */
const WANTS_RESPONSES = /\bv1\/responses\b/

const conversationCodec: CallCodec<InferenceFrames, Conversation> = {
  mayHedge: true,
  build(attempt, generation) {
    const accepted = inAcceptedDialect(attempt, generation)
    const egress = egressOf(accepted)
    const fetching = withContents(generation, accepted, egress)
    const fitting =
      fetching instanceof Promise
        ? fetching.then((fetched) => shortened(fetched, accepted, generation))
        : shortened(fetching, accepted, generation)
    const call = (request: InferenceRequest): DialectCall =>
      throughContexts(buildCall(request, attempt, generation), attempt, generation)
    return fitting instanceof Promise ? fitting.then(call) : call(fitting)
  },
  read(reply, attempt, generation) {
    generation.suspect?.refused()
    const read = egressOf(inAcceptedDialect(attempt, generation)).read(reply, generation.request.stream)
    const use = generation.context
    const frames = use?.context ? withWriting(read, use.context, use.claim) : read
    return untilContent(frames, isAnswer, generation)
  },
  readError: (attempt, status, headers, text, generation) =>
    egressOf(inAcceptedDialect(attempt, generation)).readError(status, headers, text),
  mayBuildAgain(error, generation, { optionalParts = [] }) {
    const { context: use, current } = generation
    if (current !== null && recordRefusal(current, error, optionalParts, generation)) return true
    const { status } = error
    // The cached prefix may be the cause, whatever the error's text: repeat the call without it.
    if (!use?.context || (status !== 400 && status !== 403 && status !== 404)) return false
    generation.suspect = use
    return true
  },
}

const inAcceptedDialect = (attempt: Attempt, { refused }: Conversation): Attempt =>
  refused?.get(attempt)?.instead ?? attempt

function buildCall(request: InferenceRequest, attempt: Attempt, generation: Conversation): DialectCall {
  const accepted = inAcceptedDialect(attempt, generation)
  const call = buildInDialect(request, accepted, egressOf(accepted))
  const parts = generation.refused?.get(attempt)?.parts ?? []
  if (parts.length === 0) return call
  const left = (call.optionalParts ?? []).filter(({ without }) => parts.includes(without))
  return {
    ...call,
    body: left.reduce((body, part) => part.bodyFrom(body), call.body),
    dropped: [...new Set([...call.dropped, ...left.map(({ without }) => without)])],
  }
}

/** Remembers what the endpoint rejected. True if the next call to it will differ. */
function recordRefusal(
  attempt: Attempt,
  { status, reason }: UpstreamError,
  optionalParts: readonly OptionalPart[],
  generation: Conversation,
): boolean {
  if (status !== 400 && status !== 404) return false
  generation.refused ??= new Map()
  const { refused } = generation
  const known = refused.get(attempt) ?? { parts: [] }
  if (attempt.dialect === 'chat' && known.instead === undefined && WANTS_RESPONSES.test(reason)) {
    refused.set(attempt, { ...known, instead: { ...attempt, dialect: 'responses' } })
    return true
  }
  const part = optionalParts.find(
    ({ without, isRefused }) => !known.parts.includes(without) && isRefused(reason),
  )
  if (status !== 400 || part === undefined) return false
  refused.set(attempt, { ...known, parts: [...known.parts, part.without] })
  return true
}

/** The call with its prefix read from the provider's context cache, if one exists. */
function throughContexts(call: DialectCall, attempt: Attempt, generation: Conversation): DialectCall {
  const { context: former, request, deps, contextOwner } = generation
  // A repeated call: release the claim of the failed one, and do not use the cache again if the failed call did.
  const isWithout = former !== null && former.context !== null
  former?.settled(null)
  generation.context = null
  if (call.breakpoints === undefined || isWithout || generation.suspect !== null) return call
  const scope = { preferences: request.preferences, attempt, owner: contextOwner }
  const make = (making: DialectCall) => makeContext(making, attempt, egressOf(attempt), deps)
  generation.context = throughContext(call, scope, deps.contexts, make)
  return generation.context?.call ?? call
}

/** Builds the call. Fields that only the caller's dialect supports are dropped and reported in every other dialect. */
function buildInDialect(request: InferenceRequest, attempt: Attempt, egress: Egress): DialectCall {
  const isOwn = attempt.dialect === request.dialect
  const isOutdated = isOwn && request.rewritten
  const call = isOutdated ? buildRewritten(request, attempt, egress) : egress.build(request, attempt)
  const { ownFields = NO_FIELDS, unreadable = NO_FIELDS } = request
  if (unreadable.length === 0 && (isOwn || ownFields.length === 0)) return call
  // Some dialects have a field with the same name and meaning.
  const isLost = (name: string): boolean =>
    request.body[name] === undefined || call.body[name] !== request.body[name]
  const lost = [...unreadable, ...(isOwn ? [] : ownFields.filter(isLost))]
  return lost.length === 0 ? call : { ...call, dropped: [...new Set([...call.dropped, ...lost])] }
}
const NO_FIELDS: readonly string[] = []

const isAnswer = ({ events }: InferenceFrame): boolean =>
  events.some((event) => isContent(event) || event.type === 'response-end')
