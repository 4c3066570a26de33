import type { JsonObject } from '../../core/events.ts'
import { asList, fieldsOf, isObject } from '../../core/json.ts'
import { estimateTokens } from '../../core/usage.ts'
import { sampleOf } from './sample.ts'

const TEXT =
  "This is Sluice's built-in demo model: no AI wrote this, and nothing left your machine. " +
  "For real answers set a provider's key, such as OPENAI_API_KEY, or add a providers entry to sluice.yaml, " +
  'then restart Sluice.'

const MOST_PIECES = 40
const MOST_CHOICES = 128

/** The demo model's answer: always the same for the same request, except for `created`. */
export interface DemoAnswer {
  readonly head: { readonly id: string; readonly created: number; readonly model: string }
  /** The text, or the arguments of the tool call, in at most 40 pieces. */
  readonly pieces: readonly string[]
  readonly toolCall: { readonly id: string; readonly name: string } | null
  readonly finishReason: 'stop' | 'length' | 'tool_calls'
  readonly choices: number
  /** One entry per piece, as OpenAI's `logprobs.content`; null unless requested. */
  readonly logprobs: readonly JsonObject[] | null
  readonly usage: JsonObject
}

/** Reads a chat body leniently: every valid body gets an answer. */
export function answerOf(body: JsonObject): DemoAnswer {
  const messages = asList(body['messages'])
  const tool = wantedTool(body)
  const text =
    tool === null ? beforeStop(textFor(body), body['stop']) : JSON.stringify(sampleOf(tool.parameters))
  const complete = piecesOf(text)
  const bound = boundOf(body)
  const pieces = complete.slice(0, bound)
  const choices = Math.min(MOST_CHOICES, wholeNumber(body['n']) ?? 1)
  const usual = tool === null ? 'stop' : 'tool_calls'
  return {
    head: {
      id: 'chatcmpl-demo',
      created: Math.floor(Date.now() / 1000),
      model: typeof body['model'] === 'string' ? body['model'] : 'demo',
    },
    pieces,
    toolCall: tool === null ? null : { id: `call_demo_${messages.length}`, name: tool.name },
    finishReason: pieces.length < complete.length ? 'length' : usual,
    choices,
    logprobs: body['logprobs'] === true ? logprobsOf(pieces, wholeNumber(body['top_logprobs']) ?? 0) : null,
    usage: usageOf(messages, body['tools'], Math.max(1, pieces.length) * choices),
  }
}

function textFor(body: JsonObject): string {
  const format = fieldsOf(body['response_format'])
  if (format['type'] === 'json_object') return JSON.stringify({ answer: TEXT })
  if (format['type'] !== 'json_schema') return TEXT
  const named = isObject(format['json_schema']) ? format['json_schema'] : format
  return JSON.stringify(isObject(named['schema']) ? sampleOf(named['schema']) : { answer: TEXT })
}

/** The function that the caller requires; null: the model may answer with text, and does. */
function wantedTool(body: JsonObject): { name: string; parameters: unknown } | null {
  const choice = body['tool_choice']
  const named = fieldsOf(fieldsOf(choice)['function'])['name']
  if (choice !== 'required' && named === undefined) return null
  for (const tool of asList(body['tools'])) {
    const declared = fieldsOf(fieldsOf(tool)['function'])
    const name = declared['name']
    if (typeof name !== 'string' || (named !== undefined && named !== name)) continue
    return { name, parameters: declared['parameters'] ?? { type: 'object' } }
  }
  return null
}

/** Words with the space before them; more than 40 are joined, so that a stream stays short. */
function piecesOf(text: string): string[] {
  const words = wordsOf(text)
  const size = Math.ceil(words.length / MOST_PIECES)
  if (size <= 1) return words
  return Array.from({ length: Math.ceil(words.length / size) }, (_, index) =>
    words.slice(index * size, (index + 1) * size).join(''),
  )
}

function wordsOf(text: string): string[] {
  const ends = [...text.matchAll(/\S+/g)].map(({ index, 0: word }) => index + word.length)
  return ends.map((end, at) => text.slice(ends[at - 1] ?? 0, at === ends.length - 1 ? text.length : end))
}

function beforeStop(text: string, stop: unknown): string {
  let end = text.length
  for (const mark of Array.isArray(stop) ? stop : [stop]) {
    const at = typeof mark === 'string' && mark !== '' ? text.indexOf(mark) : -1
    if (at >= 0 && at < end) end = at
  }
  return text.slice(0, end)
}

const boundOf = (body: JsonObject): number =>
  wholeNumber(body['max_completion_tokens']) ?? wholeNumber(body['max_tokens']) ?? Number.POSITIVE_INFINITY

const wholeNumber = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isInteger(value) && value >= 1 ? value : undefined

function logprobsOf(pieces: readonly string[], count: number): JsonObject[] {
  return pieces.map((token, index) => {
    const logprob = -0.01 * (1 + (index % 9))
    const others = Array.from({ length: Math.min(20, count) }, (_, rank) => {
      const other = rank === 0 ? token : ` word${rank}`
      return { token: other, logprob: rank === 0 ? logprob : -3 - rank, bytes: bytesOf(other) }
    })
    return { token, logprob, bytes: bytesOf(token), top_logprobs: others }
  })
}

const bytesOf = (text: string): number[] => [...new TextEncoder().encode(text)]

function usageOf(messages: readonly unknown[], tools: unknown, completionTokens: number): JsonObject {
  const written = JSON.stringify(messages).length + (tools === undefined ? 0 : JSON.stringify(tools).length)
  const promptTokens = estimateTokens(written)
  return {
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
    total_tokens: promptTokens + completionTokens,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: 0 },
  }
}

/** The longest duration of a stream, for any number of chunks. */
const WHOLE_MS = 600
const STEP_MS = 15

/** The SSE text of an answer, one event per item: role, pieces, finish, usage, `[DONE]`. */
export function chunksOf(answer: DemoAnswer): string[] {
  const indexes = Array.from({ length: answer.choices }, (_, index) => index)
  const rounds: { delta: JsonObject; logprobs?: JsonObject | null; finish?: string }[] = [
    { delta: firstDelta(answer) },
    ...answer.pieces.map((piece, at) => ({
      delta: pieceDelta(answer, piece),
      logprobs:
        answer.logprobs === null ? null : { content: answer.logprobs.slice(at, at + 1), refusal: null },
    })),
    { delta: {}, finish: answer.finishReason },
  ]
  const events = rounds.flatMap(({ delta, logprobs, finish }) =>
    indexes.map((index) =>
      eventOf(answer, [{ index, delta, logprobs: logprobs ?? null, finish_reason: finish ?? null }], null),
    ),
  )
  return [...events, eventOf(answer, [], answer.usage), 'data: [DONE]\n\n']
}

function firstDelta(answer: DemoAnswer): JsonObject {
  if (answer.toolCall === null) return { role: 'assistant', content: '' }
  const { id, name } = answer.toolCall
  const call = { index: 0, id, type: 'function', function: { name, arguments: '' } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}

const pieceDelta = (answer: DemoAnswer, piece: string): JsonObject =>
  answer.toolCall === null
    ? { content: piece }
    : { tool_calls: [{ index: 0, function: { arguments: piece } }] }

function eventOf(answer: DemoAnswer, choices: JsonObject[], usage: JsonObject | null): string {
  return `data: ${JSON.stringify({ ...answer.head, object: 'chat.completion.chunk', choices, usage })}\n\n`
}

/**
 * Sends one chunk per pull, at its scheduled time or later. No timer runs without a reader. Cancelling the stream, or
 * aborting, stops the timer at once.
 */
export function pacedStream(chunks: readonly string[], signal: AbortSignal): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  const stepMs = Math.min(STEP_MS, WHOLE_MS / chunks.length)
  let startedAt = 0
  let next = 0
  let stop = (): void => {}
  let leave = (): void => {}
  return new ReadableStream<Uint8Array>(
    {
      start(controller) {
        const abort = (): void => {
          stop()
          controller.error(signal.reason)
        }
        signal.addEventListener('abort', abort, { once: true })
        leave = () => signal.removeEventListener('abort', abort)
      },
      async pull(controller) {
        if (next === 0) startedAt = performance.now()
        const early = startedAt + next * stepMs - performance.now()
        if (
          early > 1 &&
          !(await pause(early, (given) => {
            stop = given
          }))
        )
          return
        controller.enqueue(encoder.encode(chunks[next]))
        next += 1
        if (next < chunks.length) return
        leave()
        controller.close()
      },
      cancel() {
        leave()
        stop()
      },
    },
    { highWaterMark: 0 },
  )
}

/** Resolves to true after `ms`, or to false as soon as the function that `give` gets is called. */
function pause(ms: number, give: (stop: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms)
    give(() => {
      clearTimeout(timer)
      resolve(false)
    })
  })
}
