import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'

/** One turn of a model that thinks, signs its thoughts and calls three tools, as all providers here tell it. */

export const TOOLS = ['tide', 'clock'] as const
export const CALLS = [
  { name: 'tide', args: { port: 'Brest' } },
  { name: 'tide', args: { port: 'Kiel' } },
  { name: 'clock', args: {} },
]
export const RESULTS = ['high at 12:03', 'low at 12:10', 'it is 11:58']
export const ANSWER = 'High at noon.'
export const THOUGHT = 'Two ports, and the clock. Grüße 🌊'
export const SAID = 'I ask.'

/** Opaque strings that must come back unchanged: with the characters of real ones, and each in one place alone. */
export const SIGNATURES = {
  claude: 'EqQBCkYIB+claude/hgCKkD1==',
  redacted: 'EmwKAhgB+redacted/gGEgw9==',
  bedrock: 'EqQBCkYIB+bedrock/xYzKkQ==',
  bedrockRedacted: 'RedactedByBedrock==',
  gemini: 'CiQB+gemini/0e2Kb6Zg4=',
  geminiAnswer: 'CiQB+geminiAnswer/4=',
  openai: 'gAAAAABo-openai_reasoning_9X==',
  router: 'EqQBCkYIB+router/4f0==',
  routerRedacted: 'EmwKAhgB+routerRedacted==',
  routerItem: 'EqQBCkYIB+routerItem/1==',
}

export const pieces = (text: string): string[] =>
  [text.slice(0, 7), text.slice(7)].filter((piece) => piece !== '')
export const json = (args: JsonObject): string => (Object.keys(args).length === 0 ? '' : JSON.stringify(args))

export const frames = (events: readonly JsonObject[], isNamed: boolean): string =>
  events
    .map((event) => `${isNamed ? `event: ${event.type}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
export const sse = (text: string): Response =>
  new Response(text, { headers: { 'content-type': 'text/event-stream' } })

/** The first turn (thoughts and calls) or the second (the answer), as the provider sends it. */
export type Reply = (isFirst: boolean, isStream: boolean) => Response

export const chatCalls = CALLS.map(({ name, args }, i) => ({
  id: `call_${i}`,
  type: 'function',
  function: { name, arguments: json(args) },
}))

/** The calls as they are sent back. */
export const completeCalls = chatCalls.map(({ function: called, ...call }) => ({
  ...call,
  function: { ...called, arguments: called.arguments === '' ? '{}' : called.arguments },
}))
export const chatResults = RESULTS.map((content, i) => ({ role: 'tool', tool_call_id: `call_${i}`, content }))

/** A conversation of a request after the user's question, without fields that do not matter, in one form for `toEqual`. */
export type Conversation = JsonObject[]

export const pick = (value: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(names.flatMap((name) => (value[name] === undefined ? [] : [[name, value[name]]])))
export const listOf = (value: unknown): JsonObject[] => (Array.isArray(value) ? value.filter(isObject) : [])
export const blocksOf = (content: unknown): JsonObject[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content)
export const plain = (content: unknown): string =>
  blocksOf(content)
    .map(({ text }) => text)
    .join('')
