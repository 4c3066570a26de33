import type { Attempt } from '../../core/attempt.ts'
import type { Caller } from '../../core/caller.ts'
import type { JsonObject } from '../../core/events.ts'
import { objectsIn } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { turnAfterLong } from '../../core/turn.ts'
import { type Compressed, compress } from '../../plugins/context-compression/compress.ts'
import { CONTEXT_COMPRESSION } from '../../plugins/context-compression/index.ts'
import { type Count, estimatedTokens, messageTokens } from '../../plugins/context-compression/tokens.ts'
import { partTokens, textTokens } from '../admission/estimate.ts'
import type { Conversation } from '../generation.ts'

/** Endpoints with a context of up to this many tokens get shorter conversations unless the caller does not want that. */
const SMALL_CONTEXT = 8_192

/** The longest context of an endpoint for which the conversation is shortened if it is too long; 0: none. */
export function shortenedUpTo({ plugins, body }: InferenceRequest, { key, workspace }: Caller): number {
  if (plugins?.some(isPlugin)) return Number.POSITIVE_INFINITY
  const { transforms, truncation } = body
  if ((Array.isArray(transforms) && transforms.length === 0) || truncation === 'disabled') return 0
  const named = [...objectsIn(body['plugins']), ...(workspace.plugins ?? [])]
  if (named.some(isPlugin)) return 0
  const isForbidden = key.guardrails?.some(({ plugins: rules }) => rules?.some(isPlugin)) ?? false
  return isForbidden ? 0 : SMALL_CONTEXT
}

const isPlugin = ({ id }: JsonObject): boolean => id === CONTEXT_COMPRESSION

/**
 * The request with a conversation that fits the endpoint's context, if it is too long and may be shortened; else the same
 * request. What was left out is in `generation.shortened`.
 */
export function shortened(
  request: InferenceRequest,
  attempt: Attempt,
  generation: Conversation,
): InferenceRequest | Promise<InferenceRequest> {
  const { contextLength } = attempt.endpoint
  generation.shortened = null
  if (contextLength === null || contextLength > shortenedUpTo(request, generation.caller)) return request
  return shortenedTo(request, attempt, contextLength, generation)
}

const COUNT: Count = { text: estimatedTokens, media: partTokens }

async function shortenedTo(
  request: InferenceRequest,
  attempt: Attempt,
  contextLength: number,
  generation: Conversation,
): Promise<InferenceRequest> {
  const most = roomFor(request, attempt, contextLength)
  const sizes: number[] = []
  let startedAt = performance.now()
  for (const message of request.messages) {
    sizes.push(messageTokens(message, COUNT))
    const turn = sizes.length % MESSAGES_PER_LOOK === 0 ? turnAfterLong(startedAt) : undefined
    if (turn === undefined) continue
    await turn
    startedAt = performance.now()
  }
  const result = compress(request.messages, most, COUNT, sizes)
  if (result === null) return request
  generation.shortened = stageOf(result, contextLength)
  return { ...request, messages: result.messages, rewritten: true }
}
const MESSAGES_PER_LOOK = 64

/** Reserved for an answer without a bound: an eighth of the context, up to this many tokens. */
const USUAL_ANSWER_TOKENS = 4_096

/** The tokens that the messages may have beside the answer, the tools and the format. */
function roomFor(
  { maxOutputTokens, tools, responseFormat }: InferenceRequest,
  attempt: Attempt,
  contextLength: number,
): number {
  const answer = attempt.outputBound ?? maxOutputTokens ?? Math.min(USUAL_ANSWER_TOKENS, contextLength / 8)
  const fixed =
    tools.length === 0 && responseFormat === undefined
      ? 0
      : textTokens(JSON.stringify([tools, responseFormat]))
  // A bound that leaves nothing to the prompt is the caller's mistake, which the provider explains.
  return Math.floor(contextLength - Math.min(answer, contextLength / 2) - fixed)
}

const stageOf = (
  { leftOut, tokensBefore, tokensAfter, fits }: Compressed,
  contextLength: number,
): JsonObject => ({
  type: 'context_compression',
  name: CONTEXT_COMPRESSION,
  summary: `left out ${leftOut.messages} messages, ${leftOut.media} images and files, and ${leftOut.characters} characters`,
  data: {
    engine: 'middle-out',
    tokenizer: 'estimate',
    context_length: contextLength,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    left_out: leftOut,
    fits,
  },
})
