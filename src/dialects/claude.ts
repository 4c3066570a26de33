import type { Attempt } from '../core/attempt.ts'
import type { JsonObject } from '../core/events.ts'
import { isObject, isString, parseObject } from '../core/json.ts'
import type { Effort, InferenceRequest, Message, Reasoning, Sampling, ToolChoice } from '../core/request.ts'
import { words } from '../core/words.ts'
import type { Drop } from './dropped.ts'
import { isNoArguments } from './json-text.ts'
import { asksToReason, effortWithin, isOff, mayReason } from './reasoning.ts'
import { hasThoughts } from './thoughts.ts'

/**
 * Claude in both of its wire formats, Messages and Converse: which parameters its versions accept, how thinking is
 * requested, and how former turns are written.
 */

const CLAUDE_EFFORTS: readonly string[] = ['low', 'medium', 'high', 'xhigh', 'max']

/** The parameters that a model accepts, by Claude's version. */
export interface Traits {
  /** `adaptive`: thinking is on or off, with an effort; `budget`: it has a budget of tokens. */
  readonly thinking: 'adaptive' | 'budget'
  /** It thinks unless the request disables it. */
  readonly thinksByDefault: boolean
  readonly efforts: readonly string[]
  /** Temperature, top_p and top_k: refused by the models that only think adaptively. */
  readonly takesSampling: boolean
  /** `output_config.format` and `strict` on tools. */
  readonly takesSchema: boolean
}

/**
 * The catalogue's metadata first, then the name: from Claude 4.7 on a budget of tokens and sampling parameters are a 400
 * (April 2026), from 4.5 on and in Opus 4.1 there is structured output (recorded 2026). Other models that speak the
 * dialect count as older ones; they have structured output if the catalogue or the settings say so.
 */
export function traitsOf({ endpoint }: Attempt): Traits {
  const { upstreamId, reasoning: facts, supportedParameters } = endpoint
  const version = versionOf(upstreamId)
  const isAdaptive = facts ? !facts.takesBudget : (version ?? 0) >= 4.07
  return {
    thinking: isAdaptive ? 'adaptive' : 'budget',
    thinksByDefault: isAdaptive && facts?.mayBeOff === true,
    efforts: facts?.efforts?.filter((name) => CLAUDE_EFFORTS.includes(name)) ?? CLAUDE_EFFORTS,
    takesSampling: supportedParameters?.includes('temperature') ?? !isAdaptive,
    takesSchema:
      version === undefined
        ? (supportedParameters?.includes('structured_outputs') ?? false)
        : version >= 4.05 || /opus-4[-.]1(?!\d)/.test(upstreamId),
  }
}

/**
 * Major and minor of a Claude model, the minor in hundredths: `claude-opus-4-7` is 4.07, `claude-3-5-haiku-20241022`
 * 3.05, `claude-sonnet-4-20250514` 4. Undefined: another model, or a name without a version.
 */
export function versionOf(upstreamId: string): number | undefined {
  const name = /claude[-_]?(.*)/i.exec(upstreamId)?.[1]
  const found = name === undefined ? null : /(?:^|\D)(\d)(?:[-.](\d{1,2}))?(?!\d)/.exec(name)
  return found ? Number(found[1]) + Number(found[2] ?? 0) / 100 : undefined
}

/** The thinking budget of each effort, as a share of the output bound. */
const SHARES: Readonly<Record<Effort, number>> = {
  max: 0.95,
  xhigh: 0.95,
  high: 0.8,
  medium: 0.5,
  low: 0.2,
  minimal: 0.1,
  none: 0,
}
const LEAST_BUDGET = 1_024
const MOST_BUDGET = 128_000

/** What else of the request decides whether a model may think. */
interface ThinkingLimits {
  readonly attempt: Attempt
  readonly traits: Traits
  /** The bound on output tokens that is sent. */
  readonly bound: number
  /** The model must call a tool. */
  readonly isForced: boolean
}

/** Anthropic's words: `thinking`, and `output_config.effort`. */
interface Thinking {
  readonly thinking?: JsonObject
  readonly effort?: string
}

/**
 * | asked | model with a budget | adaptive model |
 * |---|---|---|
 * | `effort` | `thinking.budget_tokens`, a share of the bound | the effort, thinking on |
 * | `max_tokens` | `thinking.budget_tokens` | thinking on; the number is dropped |
 * | `enabled: true` | as effort `medium` | thinking on |
 * | off | nothing: it is off | `disabled` if it is on by default and may be off |
 * | `exclude` | kept by the gateway | the text is not asked for either |
 *
 * A forced tool excludes thinking. So does, with a budget, a turn under way whose thoughts are not replayed.
 */
export function thinkingOf(
  { reasoning, messages }: InferenceRequest,
  { attempt, traits, bound, isForced }: ThinkingLimits,
  drop: Drop,
): Thinking {
  if (reasoning === undefined) return {}
  if (!asksToReason(reasoning)) {
    return isOff(reasoning) && traits.thinksByDefault ? { thinking: { type: 'disabled' } } : {}
  }
  if (!mayReason(attempt.endpoint)) {
    drop('reasoning')
    return {}
  }
  if (reasoning.summary !== undefined) drop('reasoning.summary')
  for (const name of Object.keys(reasoning.extra ?? {})) drop(`reasoning.${name}`)
  if (traits.thinking === 'adaptive') return adaptive(reasoning, traits, isForced, drop)
  const budget = budgetOf(reasoning, bound, drop)
  if (isForced || budget === undefined || hasUnsignedTurn(messages)) {
    drop('reasoning')
    return {}
  }
  return { thinking: { type: 'enabled', budget_tokens: budget } }
}

function adaptive(
  { effort, maxTokens, exclude }: Reasoning,
  { efforts }: Traits,
  isForced: boolean,
  drop: Drop,
): Thinking {
  if (maxTokens !== undefined) drop('reasoning.max_tokens')
  if (isForced) drop('reasoning')
  // Without `display` the newer models send signatures alone.
  const display = exclude === true ? 'omitted' : 'summarized'
  return {
    ...(effort === undefined ? {} : { effort: effortWithin(effort, efforts) ?? 'low' }),
    ...(isForced ? {} : { thinking: { type: 'adaptive', display } }),
  }
}

/** Undefined: the bound leaves no room to think. The API requires a budget below the bound. */
function budgetOf({ effort, maxTokens }: Reasoning, bound: number, drop: Drop): number | undefined {
  if (bound <= LEAST_BUDGET) return undefined
  const asked = maxTokens ?? Math.floor(bound * SHARES[effort ?? 'medium'])
  const budget = Math.min(Math.max(asked, LEAST_BUDGET), MOST_BUDGET, bound - 1)
  if (maxTokens !== undefined && budget !== maxTokens) drop('reasoning.max_tokens')
  return budget
}

/** A turn of tool calls must begin with the thoughts that led to it, or the API refuses to think on. */
export function hasUnsignedTurn(messages: readonly Message[]): boolean {
  const turn = messages.slice(messages.findLastIndex(({ role }) => role === 'user') + 1)
  const first = turn.find(({ role }) => role === 'assistant')
  return first?.toolCalls !== undefined && !hasThoughts(first)
}

export interface Turn {
  role: 'user' | 'assistant'
  content: JsonObject[]
}

/**
 * System and developer messages become `system`, from any position: the APIs have no other place for them. Consecutive
 * turns of one role are merged, because roles must alternate; results of parallel calls are then in one turn.
 */
export function turnsOf(
  messages: readonly Message[],
  write: (message: Message, index: number) => JsonObject[],
): { system: JsonObject[]; turns: Turn[] } {
  const system: JsonObject[] = []
  const turns: Turn[] = []
  for (const [index, message] of messages.entries()) {
    const content = write(message, index)
    const role = message.role === 'assistant' ? 'assistant' : 'user'
    const last = turns.at(-1)
    if (message.role === 'system' || message.role === 'developer') system.push(...content)
    else if (last?.role === role) last.content.push(...content)
    else if (content.length > 0) turns.push({ role, content })
  }
  // Without any other message, the instructions become the user's turn.
  if (turns.length === 0 && system.length > 0) turns.push({ role: 'user', content: system.splice(0) })
  return { system, turns }
}

/** The input of a call is an object. Invalid JSON is kept under the key that Anthropic's documentation names. */
export function inputOf(json: string): JsonObject {
  if (isNoArguments(json)) return {}
  return parseObject(json) ?? { INVALID_JSON: json }
}

/** A sequence of white space alone is rejected, so it is dropped. */
export function writeStop({ stop }: Sampling, drop: Drop): string[] | undefined {
  const accepted = stop?.filter((sequence) => sequence.trim() !== '')
  if (accepted?.length !== stop?.length) drop('stop')
  return accepted && accepted.length > 0 ? accepted : undefined
}

/** Keywords that structured output refuses (2026): the description lists them instead. */
const REFUSED = new Set(
  words(`
  minimum maximum exclusiveMinimum exclusiveMaximum multipleOf minLength maxLength maxItems uniqueItems
  minProperties maxProperties
`),
)
/** Keywords whose values are schemas by name, and those that hold one schema or a list of them. */
const NAMED = new Set(['properties', '$defs', 'definitions'])
const NESTED = new Set(['items', 'anyOf', 'allOf', 'oneOf', 'additionalProperties', 'prefixItems'])

/**
 * A JSON schema as Claude's structured output takes it: every object closed, and no keyword that it refuses. Undefined where an
 * object is open on purpose: closing it would forbid what the caller allows.
 */
export function strictSchema(schema: unknown): unknown {
  if (Array.isArray(schema)) return allOrNothing(schema.map(strictSchema))
  if (!isObject(schema)) return schema
  const { additionalProperties: open } = schema
  if (open === true || isObject(open)) return undefined
  const written: JsonObject = {}
  const refused: JsonObject = {}
  for (const [key, value] of Object.entries(schema)) {
    if (REFUSED.has(key) || (key === 'minItems' && Number(value) > 1)) refused[key] = value
    else if (NAMED.has(key) && isObject(value)) written[key] = strictEach(value)
    else written[key] = NESTED.has(key) ? strictSchema(value) : value
    if (key in written && written[key] === undefined) return undefined
  }
  if (schema.type === 'object') written.additionalProperties = false
  if (Object.keys(refused).length > 0) {
    const { description } = schema
    written.description = `${isString(description) ? `${description} ` : ''}${JSON.stringify(refused)}`
  }
  return written
}

function strictEach(schemas: JsonObject): JsonObject | undefined {
  const entries = Object.entries(schemas).map(([name, schema]) => [name, strictSchema(schema)] as const)
  return entries.some(([, schema]) => schema === undefined) ? undefined : Object.fromEntries(entries)
}

const allOrNothing = (schemas: unknown[]): unknown[] | undefined =>
  schemas.includes(undefined) ? undefined : schemas

/** The tool that replaces a JSON schema for a model without structured output. Its input becomes the text. */
export const ANSWER_TOOL = 'answer_in_json'

export const descriptionOfAnswer = (description: unknown): string =>
  isString(description) ? description : 'Answer with this tool, and with nothing else.'

/** The caller requires a call, of any tool or of one. */
export const isForced = (choice: ToolChoice | undefined): boolean =>
  choice !== undefined && choice !== 'auto' && choice !== 'none'
