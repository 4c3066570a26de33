import { UpstreamError } from '../../core/errors.ts'
import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { newToolCallId } from '../../core/ids.ts'
import { isObject, isString } from '../../core/json.ts'
import { checkCalls } from '../reply-bounds.ts'
import { type Citations, createCitations } from './citations.ts'
import { REASONING_FORMAT } from './names.ts'

/** What the parts of one reply share. */
export interface Content {
  readonly citations: Citations
  /** Blocks of thoughts by Cohere's index, and their number among ours. */
  readonly thoughts: Map<number, number>
  /** Calls by Cohere's index. */
  readonly calls: Map<number, Call>
}

interface Call {
  readonly index: number
  hasArguments: boolean
}

export const newContent = (): Content => ({
  citations: createCitations(),
  thoughts: new Map(),
  calls: new Map(),
})

/**
 * | Cohere's | events |
 * |---|---|
 * | text | text deltas |
 * | `thinking` | reasoning deltas, and details `reasoning.text` |
 * | `tool_plan` | details `reasoning.summary` |
 */
export function startBlock(at: number, raw: unknown, content: Content, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  if (raw['type'] === 'thinking') thoughtAt(at, content)
  else content.citations.startText(at)
  addToBlock(at, raw, content, events)
}

export function addToBlock(at: number, raw: unknown, content: Content, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  const { text, thinking } = raw
  if (isString(thinking) && thinking !== '') {
    events.push({ type: 'reasoning-delta', choice: 0, text: thinking })
    const index = thoughtAt(at, content)
    const detail = { type: 'reasoning.text', text: thinking, format: REASONING_FORMAT, index }
    events.push({ type: 'reasoning-detail', choice: 0, detail })
  }
  if (isString(text) && text !== '') {
    content.citations.addText(text)
    events.push({ type: 'text-delta', choice: 0, text })
  }
}

/** Pieces of one block share their number, so that a replay can put them together. 0 is the plan's. */
function thoughtAt(at: number, { thoughts }: Content): number {
  const known = thoughts.get(at) ?? thoughts.size + 1
  thoughts.set(at, known)
  return known
}

/** What the model means to do with its tools: no part of the answer, and wanted back with the calls. */
export function addPlan(plan: unknown, events: InferenceEvent[]): void {
  if (!isString(plan) || plan === '') return
  const detail = { type: 'reasoning.summary', summary: plan, format: REASONING_FORMAT, index: 0 }
  events.push({ type: 'reasoning-detail', choice: 0, detail })
}

/** Throws `malformed` for a call without a name. */
export function startCall(at: number, raw: unknown, { calls }: Content, events: InferenceEvent[]): void {
  if (!isObject(raw)) return
  const called: JsonObject = isObject(raw['function']) ? raw['function'] : {}
  const { name } = called
  if (!isString(name) || name === '') {
    throw new UpstreamError('malformed', 'a tool call of the reply has no name')
  }
  checkCalls(calls.size)
  const call: Call = { index: calls.size, hasArguments: false }
  // The number of one that ended may come again: it is kept under one that nobody uses.
  const former = calls.get(at)
  if (former) calls.set(-1 - calls.size, former)
  calls.set(at, call)
  const id = isString(raw['id']) && raw['id'] !== '' ? raw['id'] : newToolCallId()
  events.push({ type: 'tool-call-start', choice: 0, index: call.index, id, name })
  addArguments(at, raw, { calls }, events)
}

/** Arguments may be null, or an object in whole replies of some gateways. */
export function addArguments(
  at: number,
  raw: unknown,
  { calls }: Pick<Content, 'calls'>,
  events: InferenceEvent[],
): void {
  const call = calls.get(at)
  const called = isObject(raw) ? raw['function'] : undefined
  const told = isObject(called) ? called['arguments'] : undefined
  const json = isObject(told) ? JSON.stringify(told) : told
  if (call === undefined || !isString(json) || json === '') return
  call.hasArguments = true
  events.push({ type: 'tool-call-delta', choice: 0, index: call.index, json })
}

/** A call without arguments gets `{}`, unless the bound on tokens cut it. */
export function endCall(at: number, wasCut: boolean, { calls }: Content, events: InferenceEvent[]): void {
  const call = calls.get(at)
  if (call === undefined || call.hasArguments || wasCut) return
  call.hasArguments = true
  events.push({ type: 'tool-call-delta', choice: 0, index: call.index, json: '{}' })
}

/** `{token_ids, text, logprobs}`: pieces of text of one token or more, told in OpenAI's form. */
export function readLogprobs(raw: unknown, events: InferenceEvent[]): void {
  const content = (Array.isArray(raw) ? raw : [raw]).flatMap((piece) => {
    const { text, logprobs } = isObject(piece) ? piece : {}
    const numbers = Array.isArray(logprobs) ? logprobs.filter((each) => typeof each === 'number') : []
    if (!isString(text) || numbers.length === 0) return []
    const logprob = numbers.reduce((sum, each) => sum + each, 0)
    return [{ token: text, logprob, bytes: [...Buffer.from(text)], top_logprobs: [] }]
  })
  if (content.length > 0) events.push({ type: 'logprobs', choice: 0, logprobs: { content, refusal: null } })
}
