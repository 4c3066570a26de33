/** A scripted provider, on a real socket of loopback. */

interface Seen {
  path: string
  headers: Headers
  body: Record<string, unknown>
}

export type Answer = (seen: Seen, request: Request) => Response | Promise<Response>

export interface FakeUpstream {
  baseUrl: string
  /** Every request so far, in order. */
  seen: Seen[]
  /** What answers the model of this name; the last one set wins. */
  on(model: string, answer: Answer): void
  /** An answer for each request in turn; the last one stays. */
  inTurn(model: string, answers: Answer[]): void
  stop(): Promise<void>
}

export function startUpstream(): FakeUpstream {
  const seen: Seen[] = []
  const answers = new Map<string, Answer>()
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 60,
    // A stream that is scripted to break is not an error of the test.
    error: () => new Response(null, { status: 500 }),
    async fetch(request) {
      const body = await request.json()
      const entry = { path: new URL(request.url).pathname, headers: request.headers, body }
      seen.push(entry)
      const answer = answers.get(String(body.model))
      return answer
        ? answer(entry, request)
        : Response.json({ error: { message: 'no such model' } }, { status: 404 })
    },
  })
  return {
    baseUrl: `http://127.0.0.1:${server.port}/v1`,
    seen,
    on: (model, answer) => answers.set(model, answer),
    inTurn(model, list) {
      let turn = 0
      answers.set(model, (entry, request) => {
        const answer = list[Math.min(turn++, list.length - 1)]
        if (!answer) throw new Error('no answer was given')
        return answer(entry, request)
      })
    },
    stop: () => server.stop(true),
  }
}

export const USAGE = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

export const unary =
  (text: string, more: Record<string, unknown> = {}): Answer =>
  () =>
    Response.json({
      id: 'chatcmpl-up',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'upstream-name',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: USAGE,
      ...more,
    })

export const chunk = (
  delta: Record<string, unknown>,
  finish: string | null = null,
  more: Record<string, unknown> = {},
) =>
  `data: ${JSON.stringify({
    id: 'chatcmpl-up',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'upstream-name',
    choices: [{ index: 0, delta, finish_reason: finish }],
    ...more,
  })}\n\n`

export const usageChunk = (usage: Record<string, unknown> = USAGE): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-up', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [], usage })}\n\n`

export const DONE = 'data: [DONE]\n\n'

/** A whole streamed answer, one frame for each word. */
export const frames = (words: readonly string[], usage: Record<string, unknown> | null = USAGE): string[] => [
  chunk({ role: 'assistant', content: '' }),
  ...words.map((word) => chunk({ content: word })),
  chunk({}, 'stop'),
  ...(usage ? [usageChunk(usage)] : []),
  DONE,
]

export const sse = (parts: readonly string[]): Response =>
  new Response(parts.join(''), { headers: { 'content-type': 'text/event-stream' } })

export const streamed =
  (words: readonly string[]): Answer =>
  () =>
    sse(frames(words))

/** Sends the parts one after the other and then does `end`. `release` lets a test decide when it goes on. */
export function paced(
  parts: readonly string[],
  end: 'close' | 'error' | 'hang' = 'close',
  between: () => Promise<unknown> = async () => undefined,
  onCancel: () => void = () => undefined,
): Response {
  const encoder = new TextEncoder()
  let sent = 0
  return new Response(
    new ReadableStream<Uint8Array>({
      async pull(controller) {
        const part = parts[sent++]
        if (part !== undefined) {
          await between()
          controller.enqueue(encoder.encode(part))
          return
        }
        if (end === 'close') controller.close()
        else if (end === 'error') controller.error(new Error('the connection breaks'))
        else await new Promise(() => undefined)
      },
      cancel: onCancel,
    }),
    { headers: { 'content-type': 'text/event-stream' } },
  )
}

/** Reads an SSE reply of the chat dialect as its data lines, `[DONE]` included. */
export async function dataLines(response: Response): Promise<string[]> {
  const text = await response.text()
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('data: '))
    .map((block) => block.slice('data: '.length))
}
