import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { asList, defined, fieldsOf, isObject } from '../../core/json.ts'
import { bodyIn, type Effort, type InferenceRequest, type Sampling } from '../../core/request.ts'
import type { DialectCall } from '../dialect.ts'
import { type Drop, dropsInto, NEUTRAL_CHAT_FIELDS } from '../dropped.ts'
import { mayReason } from '../reasoning.ts'
import { writeMessages, writeTools } from './build-messages.ts'

/** Cohere's own parameters, which a caller of the chat dialect may set: they are sent unchanged. */
const OWN = ['citation_options', 'safety_mode', 'strict_tools', 'priority', 'raw_prompting'] as const

/** Neutral fields that Cohere has nothing for. */
const UNSUPPORTED = ['image_config', 'web_search_options']
/** Fields of a chat body that are carried here, or dropped by a rule of their own. Any other is dropped by name. */
const CARRIED: ReadonlySet<string> = new Set(
  [...NEUTRAL_CHAT_FIELDS, ...OWN, 'documents', 'thinking'].filter((name) => !UNSUPPORTED.includes(name)),
)

/**
 * The call of Cohere's v2 Chat API, from the neutral request. Never changes `request`.
 *
 * | neutral | Cohere's |
 * |---|---|
 * | messages | `build-messages.ts`; files of text become `documents` |
 * | tools, tool choice | `build-messages.ts`: `tools`, `tool_choice`, `strict_tools` |
 * | response format json_object, json_schema | `response_format` json_object, with the schema |
 * | reasoning | `thinking` |
 * | sampling | `temperature`, `p`, `k`, `seed`, penalties, `stop_sequences`, `logprobs` |
 * | bound on output | `max_tokens` |
 *
 * Anything else is dropped by name.
 */
export function buildCohere(request: InferenceRequest, attempt: Attempt): DialectCall {
  const dropped: string[] = []
  const drop = dropsInto(dropped)
  const own: JsonObject = bodyIn(request, 'chat') ?? {}
  const { messages, documents } = writeMessages(request.messages, mayReason(attempt.endpoint), drop)
  const all = [...documents, ...asList(own.documents)]
  const body = defined({
    model: attempt.endpoint.upstreamId,
    stream: request.stream,
    messages,
    ...writeTools(request, drop),
    documents: all.length > 0 ? all : undefined,
    response_format: writeFormat(request, all.length > 0, drop),
    max_tokens: attempt.outputBound ?? request.maxOutputTokens,
    thinking: writeThinking(request, attempt, isObject(own.thinking) ? own.thinking : undefined, drop),
    ...writeSampling(request, attempt, drop),
    ...ownOf(own),
  })
  if (request.body.cache_control != null) drop('cache_control')
  dropRest(request, drop)
  return { path: '/chat', headers: {}, body, dropped }
}

const ownOf = (body: JsonObject): JsonObject =>
  Object.fromEntries(OWN.flatMap((name) => (body[name] == null ? [] : [[name, body[name]]])))

/** Cohere rejects a format beside tools or documents: those are kept. It has no name for a schema and is always strict. */
function writeFormat(
  { responseFormat, tools }: InferenceRequest,
  hasDocuments: boolean,
  drop: Drop,
): JsonObject | undefined {
  const type = responseFormat?.type
  if (responseFormat === undefined || type === 'text') return undefined
  if ((type !== 'json_object' && type !== 'json_schema') || tools.length > 0 || hasDocuments) {
    drop('response_format')
    return undefined
  }
  const named = fieldsOf(responseFormat.json_schema)
  const schema = type === 'json_schema' && isObject(named.schema) ? named.schema : undefined
  return defined({ type: 'json_object', json_schema: schema })
}

function dropRest(request: InferenceRequest, drop: Drop): void {
  const { user, metadata, serviceTier, choiceCount, modalities } = request
  if (user !== undefined) drop('user')
  if (metadata !== undefined && Object.keys(metadata).length > 0) drop('metadata')
  if (serviceTier !== undefined && serviceTier !== 'auto' && serviceTier !== 'default') {
    drop('service_tier')
  }
  if (choiceCount !== undefined && choiceCount > 1) drop('n')
  if (modalities?.some((name) => name !== 'text')) drop('modalities')
  for (const [name, value] of Object.entries(bodyIn(request, 'chat') ?? {})) {
    if (value !== null && value !== undefined && !CARRIED.has(name)) drop(name)
  }
}

interface Tuning {
  readonly key: keyof Sampling
  /** The API's name. */
  readonly name: string
  /** Cohere's name; null if it has none. */
  readonly field: string | null
  /** Cohere's range, inclusive: a value beyond it is clamped, and the parameter is dropped by name. */
  readonly range?: readonly [least: number, most: number]
}

const TUNING: readonly Tuning[] = [
  { key: 'temperature', name: 'temperature', field: 'temperature' },
  { key: 'topP', name: 'top_p', field: 'p', range: [0.01, 0.99] },
  { key: 'topK', name: 'top_k', field: 'k', range: [0, 500] },
  { key: 'seed', name: 'seed', field: 'seed', range: [0, Number.MAX_SAFE_INTEGER] },
  { key: 'frequencyPenalty', name: 'frequency_penalty', field: 'frequency_penalty', range: [0, 1] },
  { key: 'presencePenalty', name: 'presence_penalty', field: 'presence_penalty', range: [0, 1] },
  { key: 'topA', name: 'top_a', field: null },
  { key: 'minP', name: 'min_p', field: null },
  { key: 'repetitionPenalty', name: 'repetition_penalty', field: null },
]
const MOST_STOPS = 5

/** Sampling parameters. Those that the endpoint is known not to accept are dropped by name. */
function writeSampling({ sampling }: InferenceRequest, { endpoint }: Attempt, drop: Drop): JsonObject {
  const known = endpoint.supportedParameters
  const takes = (name: string): boolean => {
    if (known === null || known.includes(name)) return true
    drop(name)
    return false
  }
  const body: JsonObject = {}
  for (const { key, name, field, range } of TUNING) {
    const value = sampling[key]
    if (typeof value !== 'number') continue
    if (field === null) drop(name)
    else if (takes(name)) {
      const [least, most] = range ?? [value, value]
      const written = Math.min(Math.max(value, least), most)
      if (written !== value) drop(name)
      body[field] = written
    }
  }
  const { stop, logprobs, topLogprobs, logitBias } = sampling
  if (stop !== undefined && stop.length > 0 && takes('stop')) {
    if (stop.length > MOST_STOPS) drop('stop')
    body['stop_sequences'] = stop.slice(0, MOST_STOPS)
  }
  if (logprobs === true && takes('logprobs')) body['logprobs'] = true
  if (topLogprobs !== undefined && topLogprobs > 0) drop('top_logprobs')
  if (logitBias !== undefined && Object.keys(logitBias).length > 0) drop('logit_bias')
  return body
}

/** Lower efforts: the budget in tokens, and its largest share of the bound on output. */
const BUDGETS: Readonly<Partial<Record<Effort, { tokens: number; share: number }>>> = {
  minimal: { tokens: 512, share: 0.1 },
  low: { tokens: 1_024, share: 0.2 },
  medium: { tokens: 8_192, share: 0.5 },
}

/**
 * | asked | `thinking` |
 * |---|---|
 * | off (`enabled: false`, effort `none`) | disabled |
 * | `max_tokens` | enabled, `token_budget` |
 * | effort minimal, low, medium | enabled, a `token_budget` |
 * | effort high and more, `enabled: true` | enabled, without a budget |
 * | nothing | the caller's own `thinking`, else nothing: a reasoning model then reasons |
 */
function writeThinking(
  { reasoning, maxOutputTokens }: InferenceRequest,
  attempt: Attempt,
  own: JsonObject | undefined,
  drop: Drop,
): JsonObject | undefined {
  const { effort, enabled, maxTokens, summary, extra } = reasoning ?? {}
  const isOff = enabled === false || effort === 'none'
  const isOn = !isOff && (enabled === true || effort !== undefined || maxTokens !== undefined)
  if (!mayReason(attempt.endpoint)) {
    if (isOn || (own !== undefined && own.type !== 'disabled')) drop('reasoning')
    return undefined
  }
  if (summary !== undefined) drop('reasoning.summary')
  for (const name of Object.keys(extra ?? {})) drop(`reasoning.${name}`)
  if (isOff) return { type: 'disabled' }
  if (!isOn) return own
  const bound = attempt.outputBound ?? maxOutputTokens
  const budget = maxTokens ?? budgetOf(effort, bound)
  return { type: 'enabled', ...(budget === undefined ? {} : { token_budget: Math.max(1, budget) }) }
}

function budgetOf(effort: Effort | undefined, bound: number | undefined): number | undefined {
  const budget = effort && BUDGETS[effort]
  if (!budget) return undefined
  return bound === undefined ? budget.tokens : Math.min(budget.tokens, Math.floor(bound * budget.share))
}
