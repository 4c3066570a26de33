import type { Attempt } from '../../core/attempt.ts'
import type { Caller } from '../../core/caller.ts'
import { signalOf } from '../../core/cancellation.ts'
import type { JsonObject } from '../../core/events.ts'
import { objectsIn } from '../../core/json.ts'
import type { InferenceRequest, Message } from '../../core/request.ts'
import { turnAfterLong } from '../../core/turn.ts'
import { type Compressed, compress } from '../../plugins/context-compression/compress.ts'
import { type Encoding, encodingOf } from '../../plugins/context-compression/encodings.ts'
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

async function shortenedTo(
  request: InferenceRequest,
  attempt: Attempt,
  contextLength: number,
  generation: Conversation,
): Promise<InferenceRequest> {
  const { messages } = request
  const most = roomFor(request, attempt, contextLength)
  const texts = new Set<string>()
  const estimate: Count = { text: estimatedTokens, media: partTokens }
  const collecting: Count = { ...estimate, text: (text) => estimatedTokens(texts.add(text) && text) }
  const sizes = await sizesOf(messages, collecting)
  if (sumOf(sizes) <= most * SURE_SHARE) return request
  const encoding = encodingOf(attempt.model.id)
  const exact = encoding && (await exactCount(encoding, texts, generation))
  const result = exact
    ? await compress(messages, most, exact, await sizesOf(messages, exact))
    : await compress(messages, most, estimate, sizes)
  if (result === null) return request
  generation.shortened = stageOf(result, contextLength, exact ? encoding : 'estimate')
  return { ...request, messages: result.messages, rewritten: true }
}

/** An estimate of up to this share of the room is no more than the room, whatever the language. */
const SURE_SHARE = 0.45
const MESSAGES_PER_LOOK = 64

const sumOf = (sizes: readonly number[]): number => sizes.reduce((sum, size) => sum + size, 0)

async function sizesOf(messages: readonly Message[], count: Count): Promise<number[]> {
  const sizes: number[] = []
  let startedAt = performance.now()
  for (const message of messages) {
    sizes.push(messageTokens(message, count))
    const turn = sizes.length % MESSAGES_PER_LOOK === 0 ? turnAfterLong(startedAt) : undefined
    if (turn === undefined) continue
    await turn
    startedAt = performance.now()
  }
  return sizes
}

/** Longer conversations are estimated: most of them goes anyway. */
const MOST_COUNTED_CHARACTERS = 2_000_000

/** Counts with the model's own vocabulary; null if that takes too long. A text that is cut is rather overestimated. */
async function exactCount(
  encoding: Encoding,
  texts: ReadonlySet<string>,
  { deps: { tokenPool }, cancellation }: Conversation,
): Promise<Count | null> {
  const list = [...texts]
  if (list.reduce((sum, { length }) => sum + length, 0) > MOST_COUNTED_CHARACTERS) return null
  const signal = signalOf(cancellation)
  const counts = await tokenPool.run({ encoding, texts: list }, signal).catch(() => null)
  signal.throwIfAborted()
  if (counts === null) return null
  const known = new Map(list.map((text, i) => [text, counts[i] ?? estimatedTokens(text)]))
  const factor = sumOf(counts) / Math.max(1, sumOf(list.map(estimatedTokens)))
  return {
    media: partTokens,
    text: (text) => known.get(text) ?? Math.ceil(estimatedTokens(text) * Math.max(1, factor * CUT_MARGIN)),
  }
}
const CUT_MARGIN = 1.2

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
  tokenizer: string,
): JsonObject => ({
  type: 'context_compression',
  name: CONTEXT_COMPRESSION,
  summary: `left out ${leftOut.messages} messages, ${leftOut.media} images and files, and ${leftOut.characters} characters`,
  data: {
    engine: 'middle-out',
    tokenizer,
    context_length: contextLength,
    tokens_before: tokensBefore,
    tokens_after: tokensAfter,
    left_out: leftOut,
    fits,
  },
})
