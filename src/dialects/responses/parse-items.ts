import type { TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import { defined, isString, restOf } from '../../core/json.ts'
import type { ContentPart, Message } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { mismatch, quoted } from '../mismatch.ts'
import { detailsOf } from './carried.ts'
import { readContent } from './parse-content.ts'
import {
  agentItem,
  customCallItem,
  customOutputItem,
  functionCallItem,
  functionOutputItem,
  messageItem,
  OWN_ITEMS,
  OWN_OUTPUTS,
  ownItem,
  ownOutputItem,
  reasoningItem,
  referenceItem,
  SERVER_TOOL_ITEM,
  serverToolItem,
  toolsItem,
  updateItem,
} from './schema-items.ts'
import { CUSTOM_ARGUMENT, flatName } from './tool-names.ts'

/** What the items of `input` say. */
export interface Conversation {
  messages: Message[]
  /** The last `configuration_update` of the effort. */
  effort?: string
}

/** A message and the results of its calls, which follow it from any place in the list of items. */
interface Turn {
  readonly message: Message
  readonly outputs: Message[]
  /** Parts of the message, while more may follow; they become its content. */
  parts: ContentPart[] | undefined
  /** It has text or a refusal, and not only items of built-in tools. */
  hasSpoken: boolean
}

interface Reading {
  readonly turns: Turn[]
  effort?: string
  /** The turn that holds a call; undefined for a call that no other dialect can carry. */
  readonly calls: Map<string, Turn | undefined>
  /** The calls may be part of a stored response. */
  readonly goesOn: boolean
}

type ReadItem = (item: JsonObject, at: string, reading: Reading) => void

/**
 * Items → messages, by the table in `items.ts`. Throws a `GatewayError` 400 that names the item and its field:
 * for an unknown type, a form that the type does not have, an output without its call, an unresolved
 * reference, an invalid image.
 */
export function readItems(items: readonly JsonObject[], goesOn: boolean): Conversation {
  const reading: Reading = { turns: [], calls: new Map(), goesOn }
  items.forEach((item, i) => {
    const at = `input[${i}]`
    readerOf(item, at)(item, at, reading)
  })
  const messages = reading.turns.flatMap(({ message, outputs }) => [message, ...outputs])
  return reading.effort === undefined ? { messages } : { messages, effort: reading.effort }
}

function addTurn(turns: Turn[], message: Message, hasSpoken = true): Turn {
  const turn: Turn = { message, outputs: [], parts: undefined, hasSpoken }
  turns.push(turn)
  return turn
}

/** The check is compiled when the first item of its type comes. */
function reader<T extends TSchema>(
  schema: T,
  read: (item: TypeCheckOf<T> & JsonObject, at: string, reading: Reading) => void,
): ReadItem {
  let compiled: TypeCheck<T> | undefined
  return (item, at, reading) => {
    compiled ??= TypeCompiler.Compile(schema)
    if (!compiled.Check(item)) throw mismatch(compiled, item, at)
    read(item, at, reading)
  }
}
type TypeCheckOf<T extends TSchema> = T['static']

const readOwn = reader(ownItem, (item, _, reading) => {
  if (isString(item.call_id)) reading.calls.set(item.call_id, undefined)
  keepOwn(item, reading)
})
const readOwnOutput = reader(ownOutputItem, (item, at, reading) => {
  if (isString(item.call_id)) checkCall(item.call_id, at, reading)
  keepOwn(item, reading)
})
const readServerTool = reader(serverToolItem, (item, _, reading) => keepOwn(item, reading))

const READERS: Readonly<Record<string, ReadItem>> = {
  message: reader(messageItem, (item, at, { turns }) => {
    const read = { ...readContent(item.content, `${at}.content`), ...phaseOf(item.phase) }
    if (item.role === 'assistant') addSpoken(read, turns)
    else addTurn(turns, { role: item.role, ...read, content: read.content ?? '' })
  }),
  function_call: reader(functionCallItem, (item, _, reading) => {
    addCall(item, item.arguments, reading)
  }),
  custom_tool_call: reader(customCallItem, (item, _, reading) => {
    addCall(item, JSON.stringify({ [CUSTOM_ARGUMENT]: item.input }), reading)
  }),
  function_call_output: reader(functionOutputItem, addOutput),
  custom_tool_call_output: reader(customOutputItem, addOutput),
  reasoning: reader(reasoningItem, (item, _, { turns }) => addReasoning(item, turns)),
  item_reference: reader(referenceItem, (item, at) => {
    throw badRequest(
      `names ${quoted(item.id)}, which no stored response of this workspace holds: send the item itself`,
      `${at}.id`,
    )
  }),
  // Its tools are read with those of the body.
  additional_tools: reader(toolsItem, () => undefined),
  configuration_update: reader(updateItem, ({ reasoning }, _, reading) => {
    if (reasoning?.effort) reading.effort = reasoning.effort
  }),
  agent_message: reader(agentItem, (item, _, { turns }) => {
    addTurn(turns, { role: 'user', content: readAgentContent(item.content) })
  }),
  ...Object.fromEntries(OWN_ITEMS.map((type) => [type, readOwn])),
  ...Object.fromEntries(OWN_OUTPUTS.map((type) => [type, readOwnOutput])),
}

function readerOf({ type = 'message', role }: JsonObject, at: string): ReadItem {
  const known = isString(type) && Object.hasOwn(READERS, type) ? READERS[type] : undefined
  if (known) return known
  if (isString(type) && SERVER_TOOL_ITEM.test(type)) return readServerTool
  if (type === null && isString(role)) throw badRequest('must be "message", or left out', `${at}.type`)
  const came = isString(type) ? quoted(type) : typeof type
  throw badRequest(
    `${came} is not a type of an item. Known are ${Object.keys(READERS).join(', ')} and openrouter:…`,
    `${at}.type`,
  )
}

const phaseOf = (phase: string | null | undefined): Pick<Message, 'extra'> =>
  phase ? { extra: { phase } } : {}

/** The assistant's turn that reasoning, text and calls that follow each other share. */
function openAssistant(turns: Turn[]): Turn {
  const last = turns.at(-1)
  if (last?.message.role === 'assistant' && last.outputs.length === 0) return last
  return addTurn(turns, { role: 'assistant', content: null }, false)
}

const hasText = ({ content, refusal }: Partial<Message>): boolean =>
  refusal !== undefined || (content ?? null) !== null

/** A second text is a message of its own, unless calls wait for their outputs: nothing may come between those. */
function addSpoken(spoken: Partial<Message>, turns: Turn[]): void {
  const last = openAssistant(turns)
  const { message } = last
  if (last.hasSpoken && message.toolCalls === undefined) {
    addTurn(turns, { role: 'assistant', ...spoken, content: spoken.content ?? null }, hasText(spoken))
    return
  }
  const isFirst = message.content === null && last.parts === undefined
  const { content = null, ...more } = spoken
  Object.assign(message, more)
  if (isFirst && !last.hasSpoken) message.content = content
  else addParts(last, partsOf(content))
  last.hasSpoken ||= hasText(spoken)
}

/** Adds in place: a turn may have as many parts as the request has items. */
function addParts(turn: Turn, parts: readonly ContentPart[]): void {
  turn.parts ??= [...partsOf(turn.message.content)]
  for (const part of parts) turn.parts.push(part)
  turn.message.content = turn.parts.length === 0 ? null : turn.parts
}

const partsOf = (content: Message['content']): ContentPart[] =>
  typeof content === 'string' ? [{ type: 'text', text: content }] : (content ?? [])

const CALL = new Set(words('type id call_id name namespace arguments input status parsed_arguments'))

function addCall(
  item: JsonObject & { call_id: string; name: string; namespace?: string | null },
  json: string,
  { turns, calls }: Reading,
): void {
  const turn = openAssistant(turns)
  calls.set(item.call_id, turn)
  const { message } = turn
  message.toolCalls ??= []
  message.toolCalls.push(
    defined({
      id: item.call_id,
      name: flatName(item.name, item.namespace),
      arguments: json,
      extra: restOf(item, CALL),
    }),
  )
}

function addOutput(
  item: { call_id: string; output: Parameters<typeof readContent>[0] },
  at: string,
  reading: Reading,
): void {
  checkCall(item.call_id, at, reading)
  const { content } = readContent(item.output, `${at}.output`)
  const message: Message = { role: 'tool', toolCallId: item.call_id, content: content ?? '' }
  // Right behind its call and the outputs already there: items may come in any order (user messages sent while the
  // tools ran), while the other dialects want the results before anything else.
  const turn = reading.calls.get(item.call_id) ?? reading.turns.at(-1)
  if (turn) turn.outputs.push(message)
  else addTurn(reading.turns, message)
}

function checkCall(callId: string, at: string, { calls, goesOn }: Reading): void {
  if (goesOn || calls.has(callId)) return
  throw badRequest(`answers ${quoted(callId)}, and no item before it is that call`, `${at}.call_id`)
}

/** An empty item is not a turn of its own. */
function addReasoning(item: JsonObject, turns: Turn[]): void {
  const last = turns.at(-1)
  const isOpen = last?.message.role === 'assistant' && last.outputs.length === 0
  const details = detailsOf(item, (isOpen ? last.message.reasoningDetails?.length : undefined) ?? 0)
  if (details.length === 0) return
  const { message } = openAssistant(turns)
  message.reasoningDetails ??= []
  for (const detail of details) message.reasoningDetails.push(detail)
  const text = details.flatMap(({ text, summary }) => [text, summary].filter(isString)).join('')
  if (text !== '') message.reasoning = (message.reasoning ?? '') + text
}

/** Only this dialect can carry it: other dialects drop it by its type. */
const keepOwn = (item: JsonObject, { turns }: Reading): void =>
  addParts(openAssistant(turns), [{ type: 'unknown', data: item }])

/** Text of another agent is input; content encrypted for the provider stays in this dialect. */
const readAgentContent = (content: string | JsonObject[]): string | ContentPart[] =>
  typeof content === 'string'
    ? content
    : content.map((part) =>
        isString(part.text) ? { type: 'text', text: part.text } : { type: 'unknown', data: part },
      )
