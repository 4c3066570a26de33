import { expect } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import { API_KEY } from '../../gateway.ts'
import { RESULTS, TOOLS } from './turn.ts'

/**
 * Callers that hold a conversation of two turns as their vendors' clients do: they ask, run the tools that the model
 * calls, and continue with everything that they received, unread.
 */

interface Held {
  readonly calls: { name: string; args: unknown }[]
  readonly answers: string[]
}

interface Place {
  readonly model: string
  /** The provider's slug. */
  readonly provider: string
}

interface Asked {
  /** Who answers each turn: the first calls the tools, those after it have the results. */
  readonly turns: readonly [first: Place, ...more: Place[]]
  readonly isStream: boolean
}

export interface Caller {
  readonly name: string
  readonly hold: (url: string, asked: Asked) => Promise<Held>
}

const QUESTION = 'When are the tides?'
const NEXT = { role: 'user' as const, content: 'And then?' }
const PARAMETERS = { type: 'object' as const, properties: { port: { type: 'string' } } }

const openai = (url: string): OpenAI => new OpenAI({ baseURL: `${url}/v1`, apiKey: API_KEY, maxRetries: 0 })
const routed = ({ model, provider }: Place) => ({ model, provider: { only: [provider] } })
const resultOf = (i: number): string => RESULTS[i] ?? ''

type ChatMessage = OpenAI.ChatCompletionMessageParam
type ChatCall = OpenAI.ChatCompletionMessageFunctionToolCall

interface ChatTurn {
  content: string
  reasoning: string
  reasoning_details: unknown[]
  tool_calls: ChatCall[]
}

/** What a client of the API with reasoning puts together from a stream: details one after the other. */
function addChunk(turn: ChatTurn, delta: OpenAI.ChatCompletionChunk.Choice.Delta): void {
  turn.content += delta.content ?? ''
  const reasoning: unknown = Reflect.get(delta, 'reasoning')
  if (typeof reasoning === 'string') turn.reasoning += reasoning
  const details: unknown = Reflect.get(delta, 'reasoning_details')
  if (Array.isArray(details)) turn.reasoning_details.push(...details)
  for (const { index, id, function: called } of delta.tool_calls ?? []) {
    turn.tool_calls[index] ??= { id: id ?? '', type: 'function', function: { name: '', arguments: '' } }
    const call = turn.tool_calls[index]
    call.function.name += called?.name ?? ''
    call.function.arguments += called?.arguments ?? ''
  }
}

async function chatTurn(
  client: OpenAI,
  place: Place,
  messages: ChatMessage[],
  isStream: boolean,
): Promise<{ message: ChatMessage; calls: ChatCall[]; content: string }> {
  const tools = TOOLS.map((name) => ({
    type: 'function' as const,
    function: { name, parameters: PARAMETERS },
  }))
  const asked = { ...routed(place), messages, tools, max_tokens: 6000, reasoning: { max_tokens: 2000 } }
  if (!isStream) {
    const { choices } = await client.chat.completions.create(asked)
    const message = choices[0]?.message
    if (!message) throw new Error('no message came')
    const calls = (message.tool_calls ?? []).filter((call) => call.type === 'function')
    return { message, calls, content: message.content ?? '' }
  }
  const turn: ChatTurn = { content: '', reasoning: '', reasoning_details: [], tool_calls: [] }
  for await (const { choices } of await client.chat.completions.create({ ...asked, stream: true })) {
    if (choices[0]) addChunk(turn, choices[0].delta)
  }
  return { message: { role: 'assistant', ...turn }, calls: turn.tool_calls, content: turn.content }
}

const chat: Caller = {
  name: 'chat, by openai',
  async hold(url, { turns, isStream }) {
    const client = openai(url)
    const messages: ChatMessage[] = [{ role: 'user', content: QUESTION }]
    const { message, calls } = await chatTurn(client, turns[0], messages, isStream)
    const results = calls.map(({ id }, i) => ({
      role: 'tool' as const,
      tool_call_id: id,
      content: resultOf(i),
    }))
    messages.push(message, ...results)
    const answers: string[] = []
    for (const place of turns.slice(1)) {
      const turn = await chatTurn(client, place, messages, isStream)
      answers.push(turn.content)
      messages.push(turn.message, NEXT)
    }
    return {
      calls: calls.map(({ function: called }) => ({ name: called.name, args: JSON.parse(called.arguments) })),
      answers,
    }
  },
}

async function responsesTurn(
  client: OpenAI,
  asked: {
    model: string
    input: OpenAI.Responses.ResponseInput
    store: boolean
    previous_response_id?: string
  },
  isStream: boolean,
): Promise<OpenAI.Responses.Response> {
  const tools = TOOLS.map((name) => ({
    type: 'function' as const,
    name,
    parameters: PARAMETERS,
    strict: false,
  }))
  const body = {
    ...asked,
    tools,
    max_output_tokens: 6000,
    reasoning: { effort: 'low' as const, summary: 'auto' as const },
    include: ['reasoning.encrypted_content' as const],
  }
  return isStream ? client.responses.stream(body).finalResponse() : client.responses.create(body)
}

function keptOf({ output }: OpenAI.Responses.Response): OpenAI.Responses.ResponseInput {
  const kept = output.flatMap((item) =>
    item.type === 'reasoning' || item.type === 'message' || item.type === 'function_call' ? [item] : [],
  )
  expect(kept).toHaveLength(output.length)
  return kept
}

const responses = (isStored: boolean): Caller => ({
  name: `responses, by openai, ${isStored ? 'stored here' : 'kept by the client'}`,
  async hold(url, { turns, isStream }) {
    const client = openai(url)
    const input: OpenAI.Responses.ResponseInput = [{ role: 'user', content: QUESTION }]
    const first = await responsesTurn(client, { ...routed(turns[0]), input, store: isStored }, isStream)
    const calls = first.output.filter((item) => item.type === 'function_call')
    const results = calls.map(({ call_id }, i) => ({
      type: 'function_call_output' as const,
      call_id,
      output: resultOf(i),
    }))
    const history = [...input, ...keptOf(first), ...results]
    const answers: string[] = []
    let news: OpenAI.Responses.ResponseInput = results
    let previous_response_id = first.id
    for (const place of turns.slice(1)) {
      const asked = isStored
        ? { ...routed(place), input: news, store: true, previous_response_id }
        : { ...routed(place), input: history, store: false }
      const response = await responsesTurn(client, asked, isStream)
      answers.push(response.output_text)
      news = [NEXT]
      previous_response_id = response.id
      history.push(...keptOf(response), NEXT)
    }
    return {
      calls: calls.map(({ name, arguments: json }) => ({ name, args: JSON.parse(json) })),
      answers,
    }
  },
})

async function messagesTurn(
  client: Anthropic,
  place: Place,
  messages: Anthropic.MessageParam[],
  isStream: boolean,
): Promise<Anthropic.Message> {
  const asked: Anthropic.MessageCreateParamsNonStreaming = {
    ...routed(place),
    max_tokens: 6000,
    thinking: { type: 'enabled', budget_tokens: 2000 },
    tools: TOOLS.map((name) => ({ name, input_schema: PARAMETERS })),
    messages,
  }
  return isStream ? client.messages.stream(asked).finalMessage() : client.messages.create(asked)
}

const messages: Caller = {
  name: 'messages, by @anthropic-ai/sdk',
  async hold(url, { turns, isStream }) {
    const client = new Anthropic({ baseURL: url, apiKey: API_KEY, authToken: null, maxRetries: 0 })
    const asked: Anthropic.MessageParam[] = [{ role: 'user', content: QUESTION }]
    const first = await messagesTurn(client, turns[0], asked, isStream)
    const calls = first.content.filter((block) => block.type === 'tool_use')
    const content = calls.map(({ id }, i) => ({
      type: 'tool_result' as const,
      tool_use_id: id,
      content: resultOf(i),
    }))
    const history: Anthropic.MessageParam[] = [
      ...asked,
      { role: 'assistant', content: first.content },
      { role: 'user', content },
    ]
    const answers: string[] = []
    for (const place of turns.slice(1)) {
      const { content: answer } = await messagesTurn(client, place, history, isStream)
      answers.push(answer.map((block) => (block.type === 'text' ? block.text : '')).join(''))
      history.push({ role: 'assistant', content: answer }, NEXT)
    }
    return {
      calls: calls.map(({ name, input }) => ({ name, args: input })),
      answers,
    }
  },
}

export const CALLERS: readonly Caller[] = [chat, responses(false), responses(true), messages]
