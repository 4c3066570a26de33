import type { JsonObject } from '../../core/events.ts'
import { defined, isObject, isString } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { writeUser } from '../user.ts'
import type { Drop } from './build-content.ts'
import { type ReplayRules, writeInput } from './build-input.ts'
import { writeToolChoice, writeTools } from './build-tools.ts'

/**
 * The body of a request that came in another dialect.
 *
 * | neutral | Responses |
 * |---|---|
 * | messages | `input`, by the table in `items.ts`; instructions stay messages, where they stood |
 * | tools, tool choice, parallel calls | `tools`, `tool_choice`, `parallel_tool_calls` (`build-tools.ts`) |
 * | response format | `text.format` |
 * | `verbosity` of chat | `text.verbosity` |
 * | temperature, top_p, top_logprobs | the same; `logprobs` is in `include` |
 * | the bound on output | `max_output_tokens` (`build.ts`) |
 * | reasoning | `reasoning` (`build-reasoning.ts`) |
 * | service tier, user, metadata, safety identifier, fields of prompt caching | the same |
 *
 * What has no word here is named in `dropped`. Prompts are cached unasked: Anthropic's marks for it are not.
 */
export function neutralBody(request: InferenceRequest, rules: ReplayRules, drop: Drop): JsonObject {
  const { sampling, body } = request
  const tools = writeTools(request.tools, body, drop)
  const text = defined({
    format: writeFormat(request.responseFormat, drop),
    verbosity: wordIn(body, 'verbosity'),
  })
  dropWordless(request, drop)
  return defined({
    input: writeInput(request.messages, rules, drop),
    tools: tools.length > 0 ? tools : undefined,
    tool_choice: tools.length > 0 ? writeToolChoice(request.toolChoice, drop) : undefined,
    parallel_tool_calls: tools.length > 0 ? request.parallelToolCalls : undefined,
    text: Object.keys(text).length > 0 ? text : undefined,
    temperature: sampling.temperature,
    top_p: sampling.topP,
    top_logprobs: sampling.topLogprobs,
    include: sampling.logprobs === true ? ['message.output_text.logprobs'] : undefined,
    service_tier: request.serviceTier,
    user: writeUser(request, drop),
    metadata: request.metadata,
    safety_identifier: wordIn(body, 'safety_identifier'),
    prompt_cache_key: wordIn(body, 'prompt_cache_key'),
    prompt_cache_retention: wordIn(body, 'prompt_cache_retention'),
    prompt_cache_options: isObject(body.prompt_cache_options) ? body.prompt_cache_options : undefined,
  })
}

const wordIn = (body: JsonObject, name: string): string | undefined => {
  const value = body[name]
  return isString(value) ? value : undefined
}

/** Chat nests the schema under its type; here it lies flat. */
function writeFormat(format: JsonObject | undefined, drop: Drop): JsonObject | undefined {
  switch (format?.type) {
    case undefined:
      return undefined
    case 'text':
    case 'json_object':
      return { type: format.type }
    case 'json_schema': {
      const { name, schema, strict, description } = isObject(format.json_schema) ? format.json_schema : format
      return defined({
        type: 'json_schema',
        name: name ?? 'answer',
        description: description ?? undefined,
        schema,
        strict: strict ?? undefined,
      })
    }
    default:
      drop('response_format')
      return undefined
  }
}

/** Parameters without a word in this dialect, by the API's name. */
function dropWordless({ sampling, choiceCount, modalities, body }: InferenceRequest, drop: Drop): void {
  const without: Readonly<Record<string, unknown>> = {
    top_k: sampling.topK,
    top_a: sampling.topA,
    min_p: sampling.minP,
    frequency_penalty: sampling.frequencyPenalty || undefined,
    presence_penalty: sampling.presencePenalty || undefined,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    stop: sampling.stop,
    logit_bias: sampling.logitBias,
    n: choiceCount === 1 ? undefined : choiceCount,
    modalities: modalities?.every((name) => name === 'text') ? undefined : modalities,
  }
  for (const [name, value] of Object.entries(without)) if (value !== undefined) drop(name)
  for (const name of WORDLESS) if (body[name] !== undefined && body[name] !== null) drop(name)
}

/** Parameters of callers that the neutral request has no field for. */
const WORDLESS = ['prediction', 'image_config', 'audio']
