import { type Static, Type as t } from '@sinclair/typebox'
import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import {
  asFilledText,
  asObject,
  asText,
  fieldsOf,
  isObject,
  isString,
  isText,
  objectsIn,
} from '../../core/json.ts'
import { conversationFields, model } from '../caller-schema.ts'
import type { Ingress, StreamWriter } from '../dialect.ts'
import { bounded, openObject, optional } from '../fields.ts'
import { oneLine } from '../json-text.ts'
import { bodyCheck } from '../mismatch.ts'
import { parseChat } from './parse.ts'
import { writeChatReply } from './write-reply.ts'
import { writeChatStream } from './write-stream.ts'

/** The body of POST /completions, OpenAI's older API. Unknown fields are those of POST /chat/completions. */

const tokens = t.Array(t.Integer({ minimum: 0 }))

export const completionBody = bounded(
  openObject({
    model,
    prompt: t.Union([t.String({ minLength: 1 }), t.Array(t.String()), tokens, t.Array(tokens)], {
      description: 'One text, or a list of one text; token ids are rejected',
    }),
    suffix: optional(t.String({ description: 'Rejected: chat models cannot fill in a middle' })),
    echo: optional(t.Boolean({ description: 'Whether the text begins with the prompt' })),
    stream: optional(t.Boolean({ default: false })),
    logprobs: optional(t.Integer({ minimum: 0, maximum: 5 })),
    n: optional(t.Integer({ minimum: 1 })),
    best_of: optional(t.Integer({ minimum: 1, description: 'At most n: the gateway discards no answer' })),
    max_tokens: optional(t.Integer({ minimum: 1 })),
    temperature: optional(t.Number({ minimum: 0, maximum: 2 })),
    top_p: optional(t.Number({ minimum: 0, maximum: 1 })),
    stop: optional(t.Union([t.String(), t.Array(t.String())])),
    seed: optional(t.Integer()),
    presence_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
    frequency_penalty: optional(t.Number({ minimum: -2, maximum: 2 })),
    ...conversationFields,
  }),
)
type CompletionBody = Static<typeof completionBody>

/** What of the request only its reply needs. */
export interface CompletionAsked {
  prompt: string
  echo: boolean
}

const checkBody = bodyCheck(completionBody)

/**
 * A completion as the chat request that asks the same: the prompt is the one message of the user. Throws a
 * `GatewayError` 400 for what no chat model can be asked: token ids, several prompts, a suffix.
 */
export function chatBodyOf(input: JsonObject): { body: JsonObject; asked: CompletionAsked } {
  const foreign = OF_CHAT.find((name) => input[name] !== undefined && input[name] !== null)
  if (foreign !== undefined) throw badRequest('belongs to POST /chat/completions', foreign)
  const sent = checkBody(input)
  const prompt = promptOf(sent)
  if (sent.suffix) throw badRequest('must be absent: chat models cannot fill in a middle', 'suffix')
  const { n, best_of: bestOf, logprobs } = sent
  if (bestOf && bestOf > (n ?? 1)) {
    throw badRequest(`must be at most n, which is ${n ?? 1}: the gateway discards no answer`, 'best_of')
  }
  const { prompt: _, suffix: _suffix, echo, best_of: _best, logprobs: _logprobs, ...rest } = sent
  const body: JsonObject = { ...rest, messages: [{ role: 'user', content: prompt }] }
  if (logprobs !== null && logprobs !== undefined) {
    body.logprobs = true
    if (logprobs > 0) body.top_logprobs = logprobs
  }
  return { body, asked: { prompt, echo: echo === true } }
}

const OF_CHAT = ['messages', 'tools', 'functions']

function promptOf({ prompt }: CompletionBody): string {
  if (typeof prompt === 'string') return prompt
  const [only, ...more] = prompt
  if (typeof only !== 'string') {
    throw badRequest('must be text: token ids are specific to one model and are not accepted', 'prompt')
  }
  if (more.length > 0) throw badRequest('must be one text: send a request for each prompt', 'prompt')
  if (only === '') throw badRequest('must not be empty', 'prompt[0]')
  return only
}

/** POST /completions: a chat completion whose replies are written as `text_completion`. */
export const completionIngress = (asked: () => CompletionAsked): Ingress => ({
  parse: parseChat,
  writeReply: (result, reply, closing) => viewCompletion(writeChatReply(result, reply, closing), asked()),
  writeStream: (reply) => rewritten(writeChatStream(reply), asked()),
})

const choicesOf = ({ choices }: JsonObject): JsonObject[] => objectsIn(choices)

const textOf = (message: JsonObject): string => {
  const { content, refusal } = message
  return asFilledText(content) ?? asText(refusal) ?? ''
}

function viewCompletion(reply: JsonObject, { prompt, echo }: CompletionAsked): JsonObject {
  const choices = choicesOf(reply).map(({ message, logprobs, ...rest }) => {
    const answer = fieldsOf(message)
    const text = (echo ? prompt : '') + textOf(answer)
    return {
      text,
      ...rest,
      logprobs: viewLogprobs(logprobs, text.length - textOf(answer).length),
      ...(isString(answer.reasoning) ? { reasoning: answer.reasoning } : {}),
    }
  })
  return { ...reply, object: 'text_completion', choices }
}

/** Tokens, and where they begin in the text. */
function viewLogprobs(logprobs: unknown, start: number): JsonObject | null {
  const entries = objectsIn(asObject(logprobs)?.content)
  if (entries.length === 0) return null
  let offset = start
  const offsets = entries.map(({ token }) => {
    const at = offset
    offset += String(token).length
    return at
  })
  return {
    tokens: entries.map(({ token }) => token),
    token_logprobs: entries.map(({ logprob }) => logprob),
    top_logprobs: entries.map(({ top_logprobs: top }) => likeliest(top)),
    text_offset: offsets,
  }
}

const likeliest = (top: unknown): JsonObject =>
  Object.fromEntries(objectsIn(top).map(({ token, logprob }) => [String(token), logprob]))

/** The chunks of a chat stream, each written as the older API has it. */
function rewritten(chat: StreamWriter, asked: CompletionAsked): StreamWriter {
  const offsets = new Map<number, number>()
  const rewrite = (text: string): string =>
    text
      .split('\n\n')
      .map((event) => viewEvent(event, asked, offsets))
      .join('')
  return {
    echo: (body) => rewrite(chat.echo(body)),
    write: (frame) => rewrite(chat.write(frame)),
    end: (closing) => rewrite(chat.end(closing)),
    fail: (error) => rewrite(chat.fail(error)),
  }
}

const DATA = 'data: '

function viewEvent(event: string, asked: CompletionAsked, offsets: Map<number, number>): string {
  if (event === '') return ''
  if (!event.startsWith(`${DATA}{`)) return `${event}\n\n`
  const chunk: unknown = JSON.parse(event.slice(DATA.length))
  if (!isObject(chunk)) return ''
  const former = choicesOf(chunk)
  const choices = former.flatMap((choice) => viewDelta(choice, asked, offsets))
  // A chunk with only a role or a thought has no form here.
  if (former.length > 0 && choices.length === 0 && chunk.error === undefined) return ''
  return `${DATA}${oneLine(JSON.stringify({ ...chunk, object: 'text_completion', choices }))}\n\n`
}

function viewDelta(
  { delta, logprobs, ...rest }: JsonObject,
  { prompt, echo }: CompletionAsked,
  offsets: Map<number, number>,
): JsonObject[] {
  const answer = fieldsOf(delta)
  const index = Number(rest.index)
  const isFirst = !offsets.has(index)
  const head = isFirst && echo ? prompt : ''
  const own = textOf(answer)
  const reasoning = isText(answer.reasoning) ? { reasoning: answer.reasoning } : {}
  const isEmpty = own === '' && rest.finish_reason == null && Object.keys(reasoning).length === 0
  if (isEmpty) return []
  const start = (offsets.get(index) ?? 0) + head.length
  offsets.set(index, start + own.length)
  return [{ text: head + own, ...rest, logprobs: viewLogprobs(logprobs, start), ...reasoning }]
}
