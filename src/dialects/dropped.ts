import type { JsonObject } from '../core/events.ts'
import type { InferenceRequest, Message } from '../core/request.ts'
import { words } from '../core/words.ts'
import { GATEWAY_FIELDS } from './caller-schema.ts'
import { chatBody } from './chat/schema.ts'

/** Up to this many names are searched in the list itself: most requests drop two at most. */
const FEW = 16
const LONGEST_NAME = 100

/** Names, once, what the request cannot carry. */
export type Drop = (name: string) => void

/**
 * Adds names to the parameters that cannot be carried, each once and at most 100 characters long. Names may contain
 * words of the caller (`content.<type>`), so there can be as many as the request has parts: adding one takes constant
 * time.
 */
export function dropsInto(dropped: string[]): Drop {
  let names: Set<string> | null = null
  return (text) => {
    const name = text.slice(0, LONGEST_NAME)
    if (dropped.length < FEW) {
      if (!dropped.includes(name)) dropped.push(name)
      return
    }
    // Another function may have added to the same list.
    if (names?.size !== dropped.length) names = new Set(dropped)
    if (names.has(name)) return
    names.add(name)
    dropped.push(name)
  }
}

/** Collects names, each once. `rest` names several at once, by the rule of a dialect. */
export interface Keep<Rest> {
  (name: string): void
  readonly rest: Rest
  readonly names: readonly string[]
}

export function keepWith<Rest>(restWith: (keep: Drop) => Rest): Keep<Rest> {
  const names: string[] = []
  const keep = dropsInto(names)
  return Object.assign(keep, { names, rest: restWith(keep) })
}

/** Drops by name what this dialect cannot express, and returns nothing to write. */
export function leaveOut(name: string, drop: Drop): [] {
  drop(name)
  return []
}

/** Fields of `extra` that a dialect writes. */
export interface WrittenExtras {
  readonly message: readonly string[]
  readonly part: readonly string[]
}

/** Drops, by the API's names, the further fields of messages and their parts that a dialect does not write. */
export function dropExtras(messages: readonly Message[], written: WrittenExtras, drop: Drop): void {
  for (const { content, extra } of messages) {
    dropFields(extra, 'messages', written.message, drop)
    if (!Array.isArray(content)) continue
    for (const part of content) {
      if (part.type !== 'unknown') dropFields(part.extra, 'messages.content', written.part, drop)
    }
  }
}

/** Drops the fields of one object, except those in `written`. */
export function dropFields(
  extra: JsonObject | undefined,
  place: string,
  written: readonly string[],
  drop: Drop,
): void {
  if (extra === undefined) return
  for (const name of Object.keys(extra)) {
    if (!written.includes(name)) drop(name === 'cache_control' ? name : `${place}.${name}`)
  }
}

/** The provider's word for a service tier, from `words`; one without a word is dropped by name. */
export function writeServiceTier(
  tier: string | undefined,
  words: Readonly<Record<string, string>>,
  drop: Drop,
): string | undefined {
  if (tier === undefined) return undefined
  const written = Object.hasOwn(words, tier) ? words[tier] : undefined
  if (written === undefined) drop('service_tier')
  return written
}

/** Fields of a chat body that only providers of chat and Responses take. */
const OPENAI_ONLY = ['prediction', 'verbosity', 'cache_control', 'prompt_cache_key', 'prompt_cache_options']

/** Fields of a chat body with a neutral form, and those for the gateway itself. */
export const NEUTRAL_CHAT_FIELDS: readonly string[] = [
  ...Object.keys(chatBody.properties),
  ...GATEWAY_FIELDS,
].filter((name) => !OPENAI_ONLY.includes(name))

/** Parameters of callers that the neutral request has no field for. */
const BODY_PARAMETERS = words(
  'prediction verbosity web_search_options image_config audio prompt_cache_key prompt_cache_options',
)

/**
 * Drops, by the API's names, the parameters that Claude's APIs cannot express, except those in `carried`.
 */
export function dropUncarried(
  { sampling, choiceCount, modalities, metadata, body }: InferenceRequest,
  carried: readonly string[],
  drop: Drop,
): void {
  const without: Readonly<Record<string, unknown>> = {
    min_p: sampling.minP,
    top_a: sampling.topA,
    frequency_penalty: sampling.frequencyPenalty,
    presence_penalty: sampling.presencePenalty,
    repetition_penalty: sampling.repetitionPenalty,
    seed: sampling.seed,
    logit_bias: sampling.logitBias,
    logprobs: sampling.logprobs,
    top_logprobs: sampling.topLogprobs,
    n: choiceCount === 1 ? undefined : choiceCount,
    modalities: modalities?.every((name) => name === 'text') ? undefined : modalities,
    metadata,
  }
  const names = [
    ...Object.keys(without).filter((name) => without[name] !== undefined),
    ...BODY_PARAMETERS.filter((name) => body[name] !== undefined && body[name] !== null),
  ]
  for (const name of names) if (!carried.includes(name)) drop(name)
}
