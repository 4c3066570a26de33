import type { JsonObject } from '../../core/events.ts'
import { isObject, isString } from '../../core/json.ts'
import type { Ingress, StreamWriter } from '../dialect.ts'
import { oneLine } from '../one-line.ts'
import type { CompletionAsked } from './completion-body.ts'
import { parseChat } from './parse.ts'
import { writeChatReply } from './write-reply.ts'
import { writeChatStream } from './write-stream.ts'

/** POST /completions toward callers: a chat completion whose replies are written as `text_completion`. */
export const completionIngress = (asked: () => CompletionAsked): Ingress => ({
  parse: parseChat,
  writeReply: (result, reply, closing) => viewCompletion(writeChatReply(result, reply, closing), asked()),
  writeStream: (reply) => rewritten(writeChatStream(reply), asked()),
})

const choicesOf = ({ choices }: JsonObject): JsonObject[] =>
  Array.isArray(choices) ? choices.filter(isObject) : []

const textOf = (message: JsonObject): string => {
  const { content, refusal } = message
  return isString(content) && content !== '' ? content : isString(refusal) ? refusal : ''
}

function viewCompletion(reply: JsonObject, { prompt, echo }: CompletionAsked): JsonObject {
  const choices = choicesOf(reply).map(({ message, logprobs, ...rest }) => {
    const said = isObject(message) ? message : {}
    const text = (echo ? prompt : '') + textOf(said)
    return {
      text,
      ...rest,
      logprobs: viewLogprobs(logprobs, text.length - textOf(said).length),
      ...(isString(said.reasoning) ? { reasoning: said.reasoning } : {}),
    }
  })
  return { ...reply, object: 'text_completion', choices }
}

/** Tokens, and where they begin in the text. */
function viewLogprobs(logprobs: unknown, start: number): JsonObject | null {
  const content: unknown[] = isObject(logprobs) && Array.isArray(logprobs.content) ? logprobs.content : []
  const entries = content.filter(isObject)
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
  Object.fromEntries(
    (Array.isArray(top) ? top : []).filter(isObject).map(({ token, logprob }) => [String(token), logprob]),
  )

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
  // What brings a role or a piece of a thought without text has no place here.
  if (former.length > 0 && choices.length === 0 && chunk.error === undefined) return ''
  return `${DATA}${oneLine(JSON.stringify({ ...chunk, object: 'text_completion', choices }))}\n\n`
}

function viewDelta(
  { delta, logprobs, ...rest }: JsonObject,
  { prompt, echo }: CompletionAsked,
  offsets: Map<number, number>,
): JsonObject[] {
  const said = isObject(delta) ? delta : {}
  const index = Number(rest.index)
  const isFirst = !offsets.has(index)
  const head = isFirst && echo ? prompt : ''
  const own = textOf(said)
  const reasoning = isString(said.reasoning) && said.reasoning !== '' ? { reasoning: said.reasoning } : {}
  const isEmpty = own === '' && rest.finish_reason == null && Object.keys(reasoning).length === 0
  if (isEmpty) return []
  const start = (offsets.get(index) ?? 0) + head.length
  offsets.set(index, start + own.length)
  return [{ text: head + own, ...rest, logprobs: viewLogprobs(logprobs, start), ...reasoning }]
}
