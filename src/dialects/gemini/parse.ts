import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isObject } from '../../core/json.ts'
import type { Effort, InferenceRequest, Reasoning } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { readConversationRouting } from '../caller-fields.ts'
import { bodyCheck } from '../mismatch.ts'
import { readContents } from './parse-contents.ts'
import { createKeep, type Keep } from './parse-parts.ts'
import { readFormat, readToolChoice, readTools } from './parse-tools.ts'
import { type GeminiBody, geminiBody, generationConfig, NOT_SENT } from './schema.ts'

const checkBody = bodyCheck(geminiBody)

/**
 * Reads the body of `:generateContent`, in camelCase, with the `model` of its path and whether it is to be streamed.
 * Throws a `GatewayError` 400 that names the field by its path.
 */
export function parseGemini(input: JsonObject, headers: Headers): InferenceRequest {
  const body = checkBody(input)
  const routing = readConversationRouting('gemini', 'gemini', body, headers)
  const keep = createKeep()
  const config = body.generationConfig ?? {}
  const stop = config.stopSequences
  const messages = readContents(body, keep)
  if (messages.length === 0) throw badRequest('must not be empty: all parts are empty', 'contents')
  const request = defined<InferenceRequest>({
    ...routing,
    messages,
    tools: readTools(body, keep),
    toolChoice: readToolChoice(body, keep),
    responseFormat: readFormat(body, keep),
    reasoning: readReasoning(config.thinkingConfig, keep),
    sampling: defined({
      temperature: config.temperature ?? undefined,
      topP: config.topP ?? undefined,
      topK: config.topK ?? undefined,
      seed: config.seed ?? undefined,
      presencePenalty: config.presencePenalty ?? undefined,
      frequencyPenalty: config.frequencyPenalty ?? undefined,
      stop: stop && stop.length > 0 ? stop : undefined,
      logprobs: config.responseLogprobs ?? undefined,
      topLogprobs: config.logprobs ?? undefined,
    }),
    maxOutputTokens: config.maxOutputTokens ?? undefined,
    choiceCount: config.candidateCount ?? undefined,
    modalities: config.responseModalities?.map((modality) => modality.toLowerCase()),
    serviceTier: serviceTierOf(body),
    echoUpstreamBody: false,
    parameters: parametersOf(body),
  })
  keepRest(body, keep)
  const { names } = keep
  return names.length === 0 ? request : { ...request, ownFields: names }
}

const EFFORTS: readonly Effort[] = ['minimal', 'low', 'medium', 'high']
const THINKING = new Set(['includeThoughts', 'thinkingBudget', 'thinkingLevel'])

/**
 * | `thinkingConfig` | neutral |
 * |---|---|
 * | `thinkingBudget` 0 / -1 / n | off / on / on, with this bound in tokens |
 * | `thinkingLevel` | effort |
 * | `includeThoughts`, alone | on |
 * | without `includeThoughts` | reasoning is not shown |
 */
function readReasoning(
  thinking: NonNullable<GeminiBody['generationConfig']>['thinkingConfig'],
  keep: Keep,
): Reasoning | undefined {
  if (!thinking) return undefined
  const { includeThoughts, thinkingBudget: budget, thinkingLevel } = thinking
  keep.rest(thinking, THINKING, 'generationConfig.thinkingConfig.')
  if (budget === 0) return { enabled: false }
  const effort = effortOf(thinkingLevel)
  const isBounded = budget !== null && budget !== undefined && budget > 0
  const reasoning = defined<Reasoning>({
    enabled: isBounded || budget === -1 || includeThoughts === true ? true : undefined,
    maxTokens: isBounded ? budget : undefined,
    effort,
  })
  if (Object.keys(reasoning).length === 0) return undefined
  return includeThoughts === true ? reasoning : { ...reasoning, exclude: true }
}

const effortOf = (level: string | null | undefined): Effort | undefined =>
  EFFORTS.find((word) => word === level?.toLowerCase())

/** Google's `standard` is OpenAI's `default`. */
const serviceTierOf = ({ serviceTier }: GeminiBody): string | undefined => {
  const tier = serviceTier?.toLowerCase().replace(/^service_tier_/, '')
  return tier === 'standard' ? 'default' : tier === 'unspecified' ? undefined : tier
}

/** The parameters that the caller set, by the catalogue's names (`supported_parameters`). */
function parametersOf({ generationConfig, tools, toolConfig }: GeminiBody): string[] {
  const config = generationConfig ?? {}
  const isOff = config.thinkingConfig?.thinkingBudget === 0
  const set: Readonly<Record<string, unknown>> = {
    temperature: config.temperature,
    top_p: config.topP,
    top_k: config.topK,
    seed: config.seed,
    presence_penalty: config.presencePenalty,
    frequency_penalty: config.frequencyPenalty,
    stop: config.stopSequences?.length ? config.stopSequences : undefined,
    logprobs: config.responseLogprobs,
    top_logprobs: config.logprobs,
    max_tokens: config.maxOutputTokens,
    tools: tools?.length ? tools : undefined,
    tool_choice: toolConfig?.functionCallingConfig?.mode,
    reasoning: isOff ? undefined : (config.thinkingConfig ?? undefined),
    response_format: config.responseMimeType === 'application/json' ? true : undefined,
    structured_outputs: config.responseSchema ?? config.responseJsonSchema,
  }
  return Object.keys(set).filter((name) => set[name] !== undefined && set[name] !== null)
}

/** Fields with a neutral form. */
const CARRIED = new Set(
  words('model stream contents systemInstruction tools toolConfig generationConfig serviceTier'),
)
const CONFIG = new Set(Object.keys(generationConfig.properties))

/** Collects the fields without a neutral form, which other dialects cannot carry. */
function keepRest(body: JsonObject & GeminiBody, keep: Keep): void {
  keep.rest(body, new Set([...CARRIED, ...NOT_SENT]), '')
  if (isObject(body.generationConfig)) keep.rest(body.generationConfig, CONFIG, 'generationConfig.')
}
