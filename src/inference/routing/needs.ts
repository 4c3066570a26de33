import type { Attempt } from '../../core/attempt.ts'
import type { InferenceRequest } from '../../core/request.ts'
import type { EndpointRecord, ModelRecord, ProviderRecord } from '../../core/snapshot.ts'
import { asksToReason, mayReason } from '../../dialects/reasoning.ts'
import type { PartKind } from '../admission/part-kinds.ts'
import { type PromptBound, tokensIn } from '../admission/price.ts'
import { dialectsOf } from './endpoint-dialects.ts'

/** One thing that a request needs of the endpoint that serves it. */
export interface Need {
  /** As `excluded_by` names it. */
  readonly rule: string
  /**
   * An endpoint without it still gives a useful answer: the field is left out, or a note replaces an image. It excludes
   * endpoints only as long as one of the requested models has an endpoint with it.
   */
  readonly isWish?: true
  /** True for a provider whose requests are rewritten to do without it: a wish there. */
  mayLack?(provider: ProviderRecord): boolean
  /** A length: `require_parameters` is not about it. */
  readonly isLength?: true
  /** Null: unknown. */
  has(endpoint: EndpointRecord, provider: ProviderRecord, needs: Needs, model: Voices): boolean | null
  /** Completes "No endpoint of … " and "The nearest model that …". */
  asks(needs: Needs): string
  /** The caller's sentence about an endpoint without it. */
  lack(endpoint: EndpointRecord, needs: Needs): string
}

type Voices = Pick<ModelRecord, 'supportedVoices'>

/** The needs of a request, computed once for a plan. */
export interface Needs {
  readonly list: readonly Need[]
  /** The estimate of the reservation: rather too high. */
  readonly promptTokens: number
  /** No prompt of this length has fewer tokens. Files and media count as none: their size says little. */
  readonly leastPromptTokens: number
  readonly outputTokens: number
  /** The longest context of an endpoint for which the conversation is shortened; 0: none. */
  readonly shortenedUpTo: number
  /** The caller opted in to a longer context or output than the metadata of the endpoint has. */
  readonly lifted: string
  /** Wishes exclude nothing. */
  readonly isLenient: boolean
}

/**
 * Lengths that an endpoint without metadata is expected to have. A longer prompt or answer prefers endpoints that are
 * known to fit it.
 */
const USUAL_TOKENS = 4_096

const shown = (tokens: number): string => tokens.toLocaleString('en')

/** Rules of one input modality. */
const input = (kind: string, words: string, isWish?: true): Need => ({
  rule: 'input_modalities',
  ...(isWish && { isWish }),
  has: ({ inputModalities: known }) => {
    if (known.length === 0) return null
    // Lists often leave out files of models that see: GPT-5 reads PDFs, and its list has text and images.
    if (kind === 'file' && known.includes('image') && !known.includes('file')) return null
    return known.includes(kind)
  },
  asks: () => `takes ${words}`,
  lack: ({ providerSlug, modelId, inputModalities }) =>
    `${providerSlug} serves ${modelId} for ${inputModalities.join(', ')} and not for ${words}`,
})

const INPUTS: Readonly<Record<PartKind, Need>> = {
  image: input('image', 'images'),
  audio: input('audio', 'audio'),
  file: input('file', 'files'),
  video: input('video', 'video'),
  // A text-only endpoint of chat completions is sent the results of tools without their images.
  imageOfTool: input('image', 'images', true),
}

const output = (kind: string): Need => ({
  rule: 'output_modalities',
  isWish: true,
  has: ({ outputModalities: known }) => (known.length === 0 ? null : known.includes(kind)),
  asks: () => `outputs ${kind}`,
  lack: ({ providerSlug, modelId, outputModalities }) =>
    `${providerSlug} serves ${modelId} with ${outputModalities.join(', ')} as output and not ${kind}`,
})
const OUTPUTS: Readonly<Record<string, Need>> = { audio: output('audio'), image: output('image') }

/** A need that `supported_parameters` of the endpoint answers. */
const parameter = (rule: string, asks: string, has: Need['has'], isWish?: true): Need => ({
  rule,
  ...(isWish && { isWish }),
  has,
  asks: () => asks,
  lack: ({ providerSlug, modelId }) => `${providerSlug} serves ${modelId} without ${rule}`,
})

const listed = ({ supportedParameters: known }: EndpointRecord, name: string): boolean | null =>
  known === null ? null : known.includes(name)

const leavesOutTools = ({ quirks }: ProviderRecord): boolean => quirks.chat?.tools === false

const callsTools = (endpoint: EndpointRecord, provider: ProviderRecord): boolean | null =>
  leavesOutTools(provider) ? false : listed(endpoint, 'tools')

const TOOLS: Need = { ...parameter('tools', 'calls tools', callsTools), mayLack: leavesOutTools }
const FORCED = parameter(
  'tool_choice',
  'can be made to call a tool',
  (endpoint) => listed(endpoint, 'tool_choice'),
  true,
)
/** Lists rarely name it, so that one without it says nothing. */
const PARALLEL = parameter(
  'parallel_tool_calls',
  'calls several tools at once',
  (endpoint) => listed(endpoint, 'parallel_tool_calls') || null,
)
const JSON_SCHEMA = parameter('structured_outputs', 'answers by a JSON schema', (endpoint, provider) => {
  const { responseFormats } = provider.quirks.chat ?? {}
  if (responseFormats !== undefined) return responseFormats.includes('json_schema')
  const known = listed(endpoint, 'structured_outputs')
  // In these dialects the schema becomes that of a tool, if the model has no structured output.
  const isTool = dialectsOf(provider, endpoint).some((name) => name === 'messages' || name === 'converse')
  return known === false && isTool ? callsTools(endpoint, provider) : known
})
const JSON_OBJECT = parameter(
  'response_format',
  'answers in JSON',
  (endpoint) => listed(endpoint, 'response_format') || listed(endpoint, 'structured_outputs'),
  true,
)
const REASONING = parameter(
  'reasoning',
  'reasons',
  (endpoint) => (endpoint.supportedParameters === null ? null : mayReason(endpoint)),
  true,
)

/**
 * An endpoint is excluded only if the shortest count of the prompt exceeds its context, because the estimate may be more
 * than twice too high. Between the two counts the answer is unknown.
 */
const CONTEXT: Need = {
  rule: 'context_length',
  isLength: true,
  has: ({ contextLength }, _, { promptTokens, leastPromptTokens, outputTokens, lifted, shortenedUpTo }) => {
    if (contextLength === null) return promptTokens > USUAL_TOKENS ? null : true
    if (leastPromptTokens > contextLength)
      return lifted.includes('context-') || contextLength <= shortenedUpTo ? null : false
    return promptTokens + outputTokens <= contextLength || null
  },
  asks: ({ leastPromptTokens }) => `takes a prompt of at least ${shown(leastPromptTokens)} tokens`,
  lack: ({ providerSlug, modelId, contextLength }, { promptTokens, leastPromptTokens }) =>
    `The prompt is too long for ${modelId} at ${providerSlug}: its maximum context length is ${shown(contextLength ?? 0)} tokens, and the prompt has ${shown(leastPromptTokens)} to ${shown(promptTokens)} (an estimate)`,
}

const OUTPUT_BOUND: Need = {
  rule: 'max_tokens',
  isLength: true,
  has: ({ maxCompletionTokens, contextLength }, _, { outputTokens, lifted }) => {
    const longest = maxCompletionTokens ?? contextLength
    if (longest === null) return outputTokens > USUAL_TOKENS ? null : true
    if (outputTokens <= longest) return true
    return lifted.includes('output-') ? null : false
  },
  asks: ({ outputTokens }) => `generates ${shown(outputTokens)} tokens`,
  lack: ({ providerSlug, modelId, maxCompletionTokens, contextLength }, { outputTokens }) =>
    `max_tokens is ${shown(outputTokens)}, and ${modelId} at ${providerSlug} generates at most ${shown(maxCompletionTokens ?? contextLength ?? 0)} tokens`,
}

/** A part of the prompt that is only at Google: without it the answer would be about something else. */
const CACHED_CONTENT: Need = {
  rule: 'cachedContent',
  has: (endpoint, provider) => dialectsOf(provider, endpoint).includes('gemini'),
  asks: () => 'can read a cache of Google (`cachedContent`)',
  lack: ({ providerSlug, modelId }) =>
    `cachedContent names a cache of Google, which ${modelId} at ${providerSlug} cannot read: send its content instead`,
}

/** The Messages API requires the field, and agents send what the models that they were made for can generate. */
const USUAL_BOUND: Need = { ...OUTPUT_BOUND, isWish: true }

const NOTHING: Needs = {
  list: [],
  promptTokens: 0,
  leastPromptTokens: 0,
  outputTokens: 0,
  shortenedUpTo: 0,
  lifted: '',
  isLenient: false,
}

/** The needs of a conversation. `prompt` is what its reservation counts. */
export function needsOf(request: InferenceRequest, prompt: PromptBound, shortenedUpTo = 0): Needs {
  const { tools, toolChoice, reasoning, responseFormat, modalities, maxOutputTokens, headers } = request
  const list: Need[] = [CONTEXT]
  if (maxOutputTokens !== undefined) list.push(request.apiType === 'messages' ? USUAL_BOUND : OUTPUT_BOUND)
  for (const kind of prompt.kinds ?? NONE) list.push(INPUTS[kind])
  for (const kind of modalities ?? NONE) {
    const need = OUTPUTS[kind]
    if (need !== undefined) list.push(need)
  }
  if (tools.length > 0 && tools.some(({ type }) => type === 'function')) {
    list.push(TOOLS)
    if (toolChoice === 'required' || isFunction(toolChoice)) list.push(FORCED)
    if (request.parallelToolCalls === true) list.push(PARALLEL)
  }
  if (responseFormat?.['type'] === 'json_schema') list.push(JSON_SCHEMA)
  if (responseFormat?.['type'] === 'json_object') list.push(JSON_OBJECT)
  if (reasoning !== undefined && asksToReason(reasoning)) list.push(REASONING)
  if (request.dialect === 'gemini' && request.body['cachedContent']) list.push(CACHED_CONTENT)
  return {
    list,
    promptTokens: tokensIn(prompt),
    leastPromptTokens: request.body['truncation'] === 'auto' ? 0 : (prompt.least ?? 0),
    outputTokens: maxOutputTokens ?? 0,
    shortenedUpTo,
    lifted: headers?.['anthropic-beta'] ?? '',
    isLenient: false,
  }
}

const NONE: readonly never[] = []
const isFunction = (choice: InferenceRequest['toolChoice']): boolean =>
  typeof choice === 'object' && choice.type === 'function'

/** Providers often cut a text that is too long for a vector. */
const USUAL_CONTEXT: Need = { ...CONTEXT, isWish: true }

/** The needs of a request that is not a conversation. `longest` of its texts. */
export const inputNeeds = (
  kinds: Iterable<PartKind>,
  longest?: Pick<Needs, 'promptTokens' | 'leastPromptTokens'>,
): Needs => ({
  ...NOTHING,
  ...longest,
  list: [...(longest ? [USUAL_CONTEXT] : []), ...[...kinds].map((kind) => INPUTS[kind])],
})

/** Vendors differ in capitals. */
export const voiceNeeds = (voice: string): Needs => ({
  ...NOTHING,
  list: [
    {
      rule: 'voice',
      has: (_endpoint, _provider, _needs, { supportedVoices }) =>
        supportedVoices === undefined
          ? null
          : supportedVoices.some((name) => name.toLowerCase() === voice.toLowerCase()),
      asks: () => `speaks with the voice ${JSON.stringify(voice.slice(0, 64))}`,
      lack: ({ modelId }) =>
        `${modelId} has other voices, which GET /models lists. Set "supported_voices" in its "models:" entry if it has this one too`,
    },
  ],
})

/** For a count of tokens, of which no length and no wish is required. */
export const withoutLengths = (needs: Needs): Needs => ({
  ...needs,
  list: needs.list.filter(({ isLength }) => !isLength),
})

/** The same needs, whose wishes exclude nothing; undefined if none is a wish. */
export function lenient(needs: Needs | undefined): Needs | undefined {
  const hasWish = needs?.list.some(({ isWish, mayLack }) => isWish || mayLack) ?? false
  return needs && hasWish ? { ...needs, isLenient: true } : undefined
}

/** False if the endpoint is known to lack it, and that excludes the endpoint; null: it is unknown, or may be lacking. */
export function isMet(
  need: Need,
  needs: Needs,
  endpoint: EndpointRecord,
  provider: ProviderRecord,
  model: Voices,
): boolean | null {
  const has = need.has(endpoint, provider, needs, model)
  return has === false && needs.isLenient && (need.isWish || need.mayLack?.(provider)) ? null : has
}

/** True if the endpoint is known to have all that the request needs. */
export function hasAll({ endpoint, provider, model }: Attempt, needs: Needs): boolean {
  for (const need of needs.list) if (need.has(endpoint, provider, needs, model) !== true) return false
  return true
}
