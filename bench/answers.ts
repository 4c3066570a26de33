/** What the mock upstream says and the load generator expects: the two processes share nothing else. */

export const CHUNKS = 50
export const WORD = ' benchmark'
export const USAGE = { prompt_tokens: 120, completion_tokens: CHUNKS, total_tokens: 120 + CHUNKS }

export type AnswerKind = 'unary' | 'stream'

/** The model's name decides how long an answer is and how the mock paces it. */
export const MODELS = {
  /** The complete stream in one write. */
  burst: 'bench-burst',
  /** One write for each chunk, with a turn of the event loop between. */
  steps: 'bench-steps',
  /** One chunk every 120 ms: 50 of them hold a stream open for 6 seconds. */
  trickle: 'bench-trickle-120',
  /** Streams of 2,000 chunks. */
  longBurst: 'bench-burst-x2000',
  longSteps: 'bench-steps-x2000',
  /** Answers of 16 and 200 kB that are not streamed. */
  medium: 'bench-burst-16k',
  large: 'bench-burst-200k',
} as const

/** The pieces of an answer: `-x2000` names their number, `-16k` the length of the complete text in thousands. */
function piecesOf(model: string): number {
  const thousands = /-(\d+)k$/.exec(model)?.[1]
  if (thousands !== undefined) return Math.round((Number(thousands) * 1000) / WORD.length)
  return Number(/-x(\d+)$/.exec(model)?.[1] ?? CHUNKS)
}

const texts = new Map<string, string>()

export function textOf(model: string): string {
  const text = texts.get(model) ?? WORD.repeat(piecesOf(model))
  texts.set(model, text)
  return text
}

const created = 1_763_690_000

export function unaryBody(model: string): string {
  return JSON.stringify({
    id: 'chatcmpl-bench0123456789abcdefghij',
    object: 'chat.completion',
    created,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: textOf(model), refusal: null, annotations: [] },
        logprobs: null,
        finish_reason: 'stop',
      },
    ],
    usage: {
      ...USAGE,
      prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
      completion_tokens_details: { reasoning_tokens: 0, audio_tokens: 0 },
    },
    service_tier: 'default',
    system_fingerprint: 'fp_bench01234',
  })
}

/** Two vectors of eight numbers; as many prompt tokens as any other answer. */
export function embeddingsBody(model: string): string {
  const embedding = [0.25, -0.5, 0.75, 0.125, -0.0625, 0.5, -0.25, 1]
  const { prompt_tokens } = USAGE
  return JSON.stringify({
    object: 'list',
    model,
    data: [0, 1].map((index) => ({ object: 'embedding', index, embedding })),
    usage: { prompt_tokens, total_tokens: prompt_tokens },
  })
}

/** The SSE events of one stream: the role, the pieces of text, the finish, usage and the terminal marker. */
export function streamEvents(model: string): string[] {
  const choice = (delta: object, finishReason: string | null) => [
    { index: 0, delta, logprobs: null, finish_reason: finishReason },
  ]
  const event = (choices: object[], rest: object = {}) =>
    `data: ${JSON.stringify({
      id: 'chatcmpl-bench0123456789abcdefghij',
      object: 'chat.completion.chunk',
      created,
      model,
      service_tier: 'default',
      system_fingerprint: 'fp_bench01234',
      choices,
      ...rest,
    })}\n\n`
  return [
    event(choice({ role: 'assistant', content: '', refusal: null }, null)),
    ...Array.from({ length: piecesOf(model) }, () => event(choice({ content: WORD }, null))),
    event(choice({}, 'stop')),
    event([], { usage: USAGE }),
    'data: [DONE]\n\n',
  ]
}

/** A request of about 1 kB, or with so many characters of prompt. */
export function requestBody(model: string, kind: AnswerKind, promptCharacters = 0): string {
  const messages = [
    { role: 'system', content: 'You answer in the words that were agreed upon. '.repeat(8).trim() },
    { role: 'user', content: asked(promptCharacters) },
  ]
  const common = { model, messages, temperature: 0.2, max_tokens: 256 }
  const streamed = { ...common, stream: true, stream_options: { include_usage: true } }
  return JSON.stringify(kind === 'stream' ? streamed : common)
}

const QUESTION = 'Say the word that a benchmark is made of, fifty times. '

const asked = (characters: number): string =>
  QUESTION.repeat(Math.max(8, Math.ceil(characters / QUESTION.length))).trim()

const FINISHED = '"finish_reason":"stop"'
/** `isAgain`: a kept answer, of which nothing is counted. */
const counted = (isAgain: boolean): string => `"completion_tokens":${isAgain ? 0 : CHUNKS}`
const DELTA = `"content":"${WORD}"`
const DONE = 'data: [DONE]\n\n'

/** Null for a complete and correct answer of the model, else the problem. */
export function faultOf(
  kind: AnswerKind,
  status: number,
  body: string,
  isAgain = false,
  model: string = MODELS.burst,
): string | null {
  if (status !== 200) return `status ${status}: ${body.slice(0, 300)}`
  if (!body.includes(FINISHED)) return `no finish reason: ${body.slice(0, 300)}`
  if (!body.includes(counted(isAgain))) return `no usage: ${body.slice(0, 300)}`
  return kind === 'unary' ? unaryFault(body, model) : streamFault(body, piecesOf(model))
}

function unaryFault(body: string, model: string): string | null {
  if (!body.includes(textOf(model))) return `wrong text: ${body.slice(0, 300)}`
  return body.trimEnd().endsWith('}') ? null : 'the JSON is truncated'
}

function streamFault(body: string, pieces: number): string | null {
  if (!body.endsWith(DONE)) return `no terminal marker: ${body.slice(-300)}`
  let count = 0
  for (let at = body.indexOf(DELTA); at >= 0; at = body.indexOf(DELTA, at + DELTA.length)) count += 1
  return count === pieces ? null : `${count} pieces of text in place of ${pieces}`
}
