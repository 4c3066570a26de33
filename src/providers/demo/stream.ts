import type { JsonObject } from '../../core/events.ts'
import type { DemoAnswer } from './answer.ts'

/** A stream takes this long at most, however many chunks it has. */
const WHOLE_MS = 600
const STEP_MS = 15

/** The SSE text of an answer, one event an item: role, pieces, finish, usage, `[DONE]`. */
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
 * Sends one chunk a pull, each no sooner than its turn. Nothing runs while nobody reads; leaving the stream, or
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

/** True after `ms`; false as soon as the function that `give` gets is called. */
function pause(ms: number, give: (stop: () => void) => void): Promise<boolean> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(true), ms)
    give(() => {
      clearTimeout(timer)
      resolve(false)
    })
  })
}
