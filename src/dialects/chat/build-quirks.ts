import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { asObject, fieldsOf, isObject, isString } from '../../core/json.ts'
import type { Effort, InferenceRequest, Reasoning } from '../../core/request.ts'
import type { ChatQuirks } from '../../core/snapshot.ts'
import type { Drop } from '../dropped.ts'
import { effortWithin, mayReason } from '../reasoning.ts'

/** Makes the body's own fields those of a vendor that takes the dialect otherwise; `messages` are left as they are. */
export function applyQuirks(body: JsonObject, quirks: ChatQuirks, drop: Drop): void {
  if (quirks.tools === false) leaveOutTools(body, drop)
  if (quirks.requiredToolChoice && body.tool_choice === 'required') {
    body.tool_choice = quirks.requiredToolChoice
  }
  leaveOutFormat(body, quirks, drop)
  for (const name of quirks.refusedFields ?? []) leaveOutField(body, name, drop)
  if (quirks.storedMetadata && body.store !== true) leaveOutField(body, 'metadata', drop)
  bringInside(body, quirks, drop)
  if (quirks.toolParameters && Array.isArray(body.tools)) body.tools = body.tools.map(withParameters)
  if (quirks.refusedMessageFields?.includes('cache_control') && Array.isArray(body.tools)) {
    body.tools = body.tools.map((tool: unknown) => withoutMark(tool, drop))
  }
  for (const [name, own] of Object.entries(quirks.fieldNames ?? {})) {
    if (body[name] === undefined) continue
    // What a caller wrote in the vendor's own words wins.
    body[own] ??= body[name]
    delete body[name]
  }
}

function leaveOutTools(body: JsonObject, drop: Drop): void {
  const { tools, tool_choice } = body
  if (Array.isArray(tools) && tools.length > 0) drop('tools')
  if (tool_choice !== undefined && tool_choice !== 'auto' && tool_choice !== 'none') drop('tool_choice')
  delete body.tools
  delete body.tool_choice
  delete body.parallel_tool_calls
}

function leaveOutFormat(body: JsonObject, { responseFormats }: ChatQuirks, drop: Drop): void {
  const format = body.response_format
  if (responseFormats === undefined || !isObject(format)) return
  if (isString(format.type) && responseFormats.includes(format.type)) return
  if (format.type !== 'text') drop('response_format')
  delete body.response_format
}

function leaveOutField(body: JsonObject, name: string, drop: Drop): void {
  const value = body[name]
  delete body[name]
  if (saysSomething(value) && !(name === 'n' && value === 1)) drop(name)
}

function bringInside(body: JsonObject, { ranges = {} }: ChatQuirks, drop: Drop): void {
  for (const [name, [least, most]] of Object.entries(ranges)) {
    const value = body[name]
    if (typeof value !== 'number' || (value >= least && value <= most)) continue
    body[name] = Math.min(Math.max(value, least), most)
    drop(name)
  }
}

function withParameters(tool: unknown): unknown {
  const called = asObject(tool)?.function
  if (!isObject(tool) || !isObject(called) || isObject(called.parameters)) return tool
  return { ...tool, function: { ...called, parameters: { type: 'object', properties: {} } } }
}

/** What is empty, off or null asks for nothing. */
export const saysSomething = (value: unknown): boolean => {
  if (Array.isArray(value)) return value.length > 0
  if (isObject(value)) return Object.keys(value).length > 0
  return value !== undefined && value !== null && value !== false && value !== '' && value !== 0
}

/** A tool or a part of content without its mark for caches. */
export function withoutMark(marked: unknown, drop: Drop): unknown {
  if (!isObject(marked) || marked.cache_control === undefined) return marked
  const { cache_control, ...rest } = marked
  if (saysSomething(cache_control)) drop('cache_control')
  return rest
}

/**
 * Sets the effort in the one field that the provider knows: `reasoning_effort` for most, the object
 * `reasoning` if the provider takes it. What that field cannot express is named in `dropped`. `exclude` is kept by
 * the gateway itself, so it counts as carried.
 */
export function applyReasoning(
  body: JsonObject,
  request: InferenceRequest,
  attempt: Attempt,
  dropped: string[],
): void {
  const sent = fieldsOf(body.reasoning)
  delete body.reasoning
  delete body.reasoning_effort
  const { reasoning } = request
  if (!reasoning) return
  if (!mayReason(attempt.endpoint)) {
    if (asks(reasoning)) dropped.push('reasoning')
    return
  }
  if (attempt.provider.quirks.reasoningField === 'reasoning') {
    body.reasoning = { ...sent, ...objectOf(reasoning) }
    return
  }
  if (attempt.provider.quirks.chat?.promptMode && alwaysReasons(attempt)) {
    applyPromptMode(body, reasoning, dropped)
    return
  }
  const effort = effortOf(reasoning, attempt)
  const taken = effort === undefined ? undefined : effortTaken(effort, attempt)
  if (taken !== undefined) body.reasoning_effort = taken
  else if (effort !== undefined) dropped.push('reasoning.effort')
  else if (reasoning.enabled === true && reasoning.maxTokens === undefined) dropped.push('reasoning.enabled')
  if (reasoning.maxTokens !== undefined) dropped.push('reasoning.max_tokens')
  if (reasoning.summary !== undefined) dropped.push('reasoning.summary')
  for (const name of Object.keys(reasoning.extra ?? {})) dropped.push(`reasoning.${name}`)
}

/** True when something was asked that an endpoint without reasoning does not do anyway. */
const asks = ({ effort, enabled, maxTokens, summary }: Reasoning): boolean =>
  enabled === true ||
  (effort !== undefined && effort !== 'none') ||
  maxTokens !== undefined ||
  summary !== undefined

/**
 * To turn reasoning off is the effort `none`; to turn it on without an effort is `medium`, where the endpoint is
 * known to take an effort (some that always reason refuse the field).
 */
function effortOf({ effort, enabled }: Reasoning, { endpoint, provider }: Attempt): Effort | undefined {
  if (effort !== undefined || enabled === undefined) return effort
  if (!enabled) return 'none'
  if (provider.quirks.chat?.efforts) return 'medium'
  return endpoint.supportedParameters?.includes('reasoning_effort') ? 'medium' : undefined
}

/**
 * Of a vendor that knows only some efforts, the strongest that is not stronger than what was asked for, else its
 * weakest; undefined: it cannot be kept from reasoning.
 */
function effortTaken(asked: Effort, { endpoint, provider }: Attempt): string | undefined {
  const usual = provider.quirks.chat?.efforts
  if (usual === undefined) return asked
  const known = endpoint.reasoning?.efforts ?? usual
  if (asked === 'none') return known.includes('none') ? 'none' : undefined
  return effortWithin(asked, known)
}

const alwaysReasons = ({ endpoint: { reasoning } }: Attempt): boolean =>
  reasoning !== undefined && !reasoning.mayBeOff && reasoning.efforts === null

/** Such a model takes no effort. */
function applyPromptMode(body: JsonObject, reasoning: Reasoning, dropped: string[]): void {
  const { effort, enabled, maxTokens, summary, extra } = reasoning
  if (asks(reasoning) && enabled !== false) body.prompt_mode ??= 'reasoning'
  if (effort !== undefined) dropped.push('reasoning.effort')
  else if (enabled === false) dropped.push('reasoning.enabled')
  if (maxTokens !== undefined) dropped.push('reasoning.max_tokens')
  if (summary !== undefined) dropped.push('reasoning.summary')
  for (const name of Object.keys(extra ?? {})) dropped.push(`reasoning.${name}`)
}

const objectOf = ({ effort, maxTokens, enabled, exclude, summary }: Reasoning): JsonObject => ({
  ...(effort === undefined ? {} : { effort }),
  ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
  ...(enabled === undefined ? {} : { enabled }),
  ...(exclude === undefined ? {} : { exclude }),
  ...(summary === undefined ? {} : { summary }),
})
