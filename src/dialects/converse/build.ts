import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, fieldsOf, isObject } from '../../core/json.ts'
import type { InferenceRequest } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { type Turn, writeStop } from '../claude.ts'
import type { DialectCall } from '../dialect.ts'
import { type Drop, dropsInto, dropUncarried, writeServiceTier } from '../dropped.ts'
import { writeMessages } from './build-messages.ts'
import { writeReasoning } from './build-reasoning.ts'
import { wantsGrounding, writeFormat, writeTools } from './build-tools.ts'
import { type Abilities, abilitiesOf, cachePointFor } from './model.ts'

/** Fields that only Converse has: a caller may set them by their own names. */
const OWN_FIELDS = words(`
  guardrailConfig performanceConfig promptVariables requestMetadata additionalModelResponseFieldPaths
`)

/**
 * The call of Converse or ConverseStream, from the neutral request.
 *
 * | neutral | Converse |
 * |---|---|
 * | messages | `build-messages.ts`, `build-content.ts` |
 * | tools, tool choice | `build-tools.ts` |
 * | reasoning | `additionalModelRequestFields`, `build-reasoning.ts` |
 * | response format | `build-tools.ts` |
 * | bound on output, temperature, top_p, stop | `inferenceConfig` |
 * | top_k | `additionalModelRequestFields`, of Claude and Nova |
 * | service tier | `serviceTier` |
 * | metadata | `requestMetadata` |
 * | `cache_control` of body, messages, parts, tools | `cachePoint` after what it marks |
 *
 * Anything else is dropped by name. Throws a `GatewayError` 400 for content that cannot be sent.
 */
export function buildConverse(request: InferenceRequest, attempt: Attempt): DialectCall {
  const dropped: string[] = []
  const drop = dropsInto(dropped)
  const abilities = abilitiesOf(attempt)
  const { upstreamId, inputModalities } = attempt.endpoint
  const writing = { abilities, inputModalities, drop, documentNames: new Map<string, number>() }
  const { system, messages } = writeMessages(request.messages, writing)
  markLast(messages, request.body, abilities, drop)
  const tools = writeTools(request, messages, abilities, drop)
  const { toolConfig, outputConfig } = writeFormat(request, tools, abilities, drop)
  const bound = attempt.outputBound ?? request.maxOutputTokens
  const isForced = toolConfig?.toolChoice !== undefined && toolConfig.toolChoice['auto'] === undefined
  const reasoning = writeReasoning(request, { attempt, abilities, bound, isForced }, drop)
  const { inferenceConfig, fields } = writeSampling(request, bound, reasoning, abilities, drop)
  const { serviceTier } = request
  const tier = serviceTier === 'auto' ? undefined : writeServiceTier(serviceTier, TIERS, drop)
  const additionalModelRequestFields = { ...fields, ...reasoning, ...callersFields(request) }
  const body: JsonObject = defined({
    messages,
    system: filled(system),
    inferenceConfig: filled(inferenceConfig),
    toolConfig,
    outputConfig,
    additionalModelRequestFields: filled(additionalModelRequestFields),
    serviceTier: tier === undefined ? undefined : { type: tier },
    requestMetadata: writeMetadata(request.metadata, drop),
    ...ownFields(request),
  })
  if (request.user !== undefined) drop('user')
  dropUncarried(
    request,
    ['metadata', ...(wantsGrounding(request, abilities) ? ['web_search_options'] : [])],
    drop,
  )
  const path = `/model/${encodeURIComponent(upstreamId)}/converse${request.stream ? '-stream' : ''}`
  return { path, headers: {}, body, dropped }
}

const filled = <T extends object>(value: T): T | undefined =>
  Object.keys(value).length > 0 ? value : undefined

/** A marker on the body caches all of it, so its cache point is at the very end. */
function markLast(turns: readonly Turn[], body: JsonObject, abilities: Abilities, drop: Drop): void {
  const last = turns.at(-1)
  if (last?.content.at(-1)?.['cachePoint'] !== undefined) return
  last?.content.push(...cachePointFor({ cache_control: body['cache_control'] }, abilities, drop))
}

/**
 * While Claude thinks it accepts only temperature 1, no top_k, and top_p from 0.95 on. Newer Claude models accept either
 * temperature or top_p: the temperature is kept. Nova accepts none of them at its highest effort.
 */
function writeSampling(
  { sampling }: InferenceRequest,
  bound: number | undefined,
  reasoning: JsonObject,
  abilities: Abilities,
  drop: Drop,
): { inferenceConfig: JsonObject; fields: JsonObject } {
  const config: JsonObject = bound === undefined ? {} : { maxTokens: bound }
  const { temperature, topP } = sampling
  const rule = samplingRule(reasoning, abilities)
  if (temperature !== undefined) {
    if (rule === 'none' || (rule === 'thinking' && temperature !== 1)) drop('temperature')
    else {
      config['temperature'] = Math.min(temperature, 1)
      if (temperature > 1) drop('temperature')
    }
  }
  if (topP !== undefined) {
    const isSecond = abilities.family === 'Claude' && config['temperature'] !== undefined
    if (rule === 'none' || isSecond || (rule === 'thinking' && topP < 0.95)) drop('top_p')
    else config['topP'] = topP
  }
  const stop = writeStop(sampling, drop)
  if (stop !== undefined) config['stopSequences'] = stop
  return { inferenceConfig: config, fields: writeTopK(sampling.topK, rule, abilities, drop) }
}

/** `none`: no sampling parameter is accepted; `thinking`: Claude thinks; `free`: all are accepted. */
function samplingRule({ thinking, reasoningConfig }: JsonObject, { family, claude }: Abilities) {
  if (family === 'Claude') {
    if (!claude.takesSampling) return 'none'
    return isObject(thinking) && thinking['type'] !== 'disabled' ? 'thinking' : 'free'
  }
  return isObject(reasoningConfig) && reasoningConfig['maxReasoningEffort'] === 'high' ? 'none' : 'free'
}

function writeTopK(
  topK: number | undefined,
  rule: 'none' | 'thinking' | 'free',
  { family }: Abilities,
  drop: Drop,
): JsonObject {
  if (topK === undefined) return {}
  if (rule === 'free' && topK >= 1) {
    if (family === 'Claude') return { top_k: topK }
    if (family === 'Nova' || family === 'Nova 2') return { inferenceConfig: { topK } }
  }
  drop('top_k')
  return {}
}

const callersFields = ({ body }: InferenceRequest): JsonObject =>
  fieldsOf(body['additionalModelRequestFields'])

const ownFields = ({ body }: InferenceRequest): JsonObject =>
  Object.fromEntries(
    OWN_FIELDS.filter((name) => isObject(body[name]) || Array.isArray(body[name])).map((name) => [
      name,
      body[name],
    ]),
  )

const TIERS: Readonly<Record<string, string>> = {
  default: 'default',
  flex: 'flex',
  priority: 'priority',
  fast: 'priority',
}

/** AWS's rule for names and values; a single pair that breaks it fails the call. */
const PLAIN = /^[A-Za-z0-9\s:_@$#=/+,.-]{0,256}$/
const MOST_PAIRS = 16

function writeMetadata(metadata: Record<string, string> | undefined, drop: Drop): JsonObject | undefined {
  if (metadata === undefined) return undefined
  const pairs = Object.entries(metadata)
  const kept = pairs.filter(([name, value]) => name !== '' && PLAIN.test(name) && PLAIN.test(value))
  if (kept.length < pairs.length || kept.length > MOST_PAIRS) drop('metadata')
  return filled(Object.fromEntries(kept.slice(0, MOST_PAIRS)))
}
