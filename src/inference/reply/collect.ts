import type { InferenceEvent, InferenceFrame, InferenceFrames } from '../../core/events.ts'
import { addAudio, addLogprobs } from '../../core/pieces.ts'
import type { InferenceResult, ResultChoice } from '../../core/result.ts'
import { checkTokens, tokensIn } from '../../dialects/reply-decoder.ts'

/**
 * Reads a stream to its end as one reply. Calls `see` for every frame first. Throws `malformed` if it holds the logprobs of
 * too many tokens: they are written in one step.
 */
export async function collect(
  frames: InferenceFrames,
  see: (frame: InferenceFrame) => void,
): Promise<InferenceResult> {
  const result: InferenceResult = { created: null, choices: [], natives: [] }
  // `for await` would add one more await per batch.
  const iterator = frames[Symbol.asyncIterator]()
  for (;;) {
    const { value, done } = await iterator.next()
    if (done) break
    for (const frame of value) {
      see(frame)
      for (const event of frame.events) addEvent(result, event)
    }
    let tokens = 0
    for (const { logprobs } of result.choices) if (logprobs !== null) tokens += tokensIn(logprobs)
    checkTokens(tokens)
  }
  if (result.choices.length > 1) result.choices.sort((a, b) => a.index - b.index)
  return result
}

/** The same with the frames, for a reply that writers show in its order. They are not counted here. */
export async function collectInOrder(frames: InferenceFrames): Promise<InferenceResult> {
  const inOrder: InferenceFrame[] = []
  const result = await collect(frames, (frame) => inOrder.push(frame))
  return { ...result, frames: inOrder }
}

export function addEvent(result: InferenceResult, event: InferenceEvent): void {
  switch (event.type) {
    case 'response-start':
      result.created ??= event.created
      return
    case 'native':
      result.natives.push({ dialect: event.dialect, data: event.data })
      return
    case 'response-end':
      for (const finish of event.finishes) choiceOf(result, finish.choice).finish = finish
      return
    case 'usage':
    case 'server-tool':
    case 'own-piece':
      return
    default:
      addToChoice(choiceOf(result, event.choice), event)
  }
}

type ChoiceEvent = Exclude<
  InferenceEvent,
  { type: 'response-start' | 'native' | 'response-end' | 'usage' | 'server-tool' | 'own-piece' }
>

function addToChoice(choice: ResultChoice, event: ChoiceEvent): void {
  switch (event.type) {
    case 'text-delta':
      choice.text += event.text
      return
    case 'reasoning-delta':
      choice.reasoning += event.text
      return
    case 'reasoning-detail':
      choice.reasoningDetails.push(event.detail)
      return
    case 'refusal-delta':
      choice.refusal += event.text
      return
    case 'tool-call-start':
      choice.toolCalls[event.index] = {
        id: event.id,
        name: event.name,
        arguments: '',
        ...extraOf(event.extra),
      }
      return
    case 'tool-call-delta': {
      const call = choice.toolCalls[event.index]
      if (call) call.arguments += event.json
      return
    }
    case 'annotation':
      choice.annotations.push(event.annotation)
      return
    case 'image':
      choice.images.push(event.url)
      return
    case 'audio-delta':
      choice.audio ??= {}
      addAudio(choice.audio, event.audio)
      return
    case 'logprobs':
      choice.logprobs ??= {}
      addLogprobs(choice.logprobs, event.logprobs)
  }
}

const extraOf = (extra: Record<string, unknown> | undefined) => (extra ? { extra } : {})

function choiceOf(result: InferenceResult, index: number): ResultChoice {
  let choice = result.choices.find((candidate) => candidate.index === index)
  if (!choice) {
    choice = {
      index,
      text: '',
      reasoning: '',
      reasoningDetails: [],
      refusal: '',
      toolCalls: [],
      annotations: [],
      images: [],
      audio: null,
      logprobs: null,
      finish: { choice: index, reason: 'error', native: null },
    }
    result.choices.push(choice)
  }
  return choice
}
