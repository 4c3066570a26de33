import type { Caller } from '../../core/caller.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { InferenceFrame } from '../../core/events.ts'
import type { AttemptOutcome } from '../../core/generation.ts'
import { type EndedContent, type GenerationContent, isSampled } from '../../core/generation-content.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { InferenceResult } from '../../core/result.ts'
import { addEvent } from '../reply/collect.ts'
import type { Ending } from '../reply/meter.ts'
import { type AudioTap, createAudioTap } from './audio-tap.ts'
import { failureOf } from './failure.ts'
import { inputOf } from './input.ts'
import { limited, MOST_CHARACTERS, shortened, truncationMark, weigh } from './limited.ts'
import { completionOf, lengthOf, reasoningOf, truncatedEvent } from './output.ts'

/** Records the contents of one generation for the content log, as its caller gets them. */
export interface ContentRecord {
  /** A frame of a stream, once it is written to the caller. */
  see(frame: InferenceFrame): void
  /** The complete reply of a conversation that is not streamed. */
  takeResult(result: InferenceResult): void
  /** The complete reply of any other operation. Text is logged unchanged, everything else as JSON. */
  takeReply(answer: unknown): void
  /** The same audio, recorded while it is read. */
  tapAudio(mediaType: string, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** The error that the caller gets instead of the reply, or of its remainder. */
  fail(error: GatewayError): void
  /** Ends the recording. */
  end(ending: Ending): EndedContent
}

export interface RecordInput {
  caller: Caller
  request: RoutedRequest
  generationId: string
  tries: readonly AttemptOutcome[]
}

/** Null if the workspace does not log this generation. */
export function recordFor(input: RecordInput): ContentRecord | null {
  const { caller, generationId } = input
  const logging = caller.workspace.contentLogging
  if (logging === undefined) return null
  if (logging.keyIds !== null && !logging.keyIds.has(caller.key.id)) return null
  return isSampled(generationId, logging.samplingRate) ? createRecord(input) : null
}

/** Reserved for the truncation marker and the JSON around a text, so that a truncated text is not truncated again. */
const FRAME_CHARACTERS = 1_000

function createRecord({ caller, request, generationId, tries }: RecordInput): ContentRecord {
  let result: InferenceResult = { created: null, choices: [], natives: [] }
  let answer: unknown
  let audio: AudioTap | null = null
  let callerError: GatewayError | null = null
  let remaining = MOST_CHARACTERS - FRAME_CHARACTERS
  let isTruncated = false
  let isOver = false

  function see({ events }: InferenceFrame): void {
    for (const event of events) {
      const length = isOver || isTruncated ? 0 : lengthOf(event)
      if (length === 0) continue
      isTruncated = length > remaining
      addEvent(result, isTruncated ? truncatedEvent(event, remaining) : event)
      remaining -= length
    }
  }

  return {
    see,
    takeResult(reply) {
      result = reply
    },
    takeReply(reply) {
      answer = reply
    },
    tapAudio(mediaType, chunks) {
      audio = createAudioTap(mediaType)
      return audio.through(chunks)
    },
    fail(failure) {
      if (!isOver) callerError ??= failure
    },
    end(ending) {
      isOver = true
      const exchange: Exchange = {
        input: inputOf(request),
        recording: recordingOf(request),
        completion: answer ?? completionOf(result.choices),
        reasoning: hidesReasoning(request) ? null : reasoningOf(result.choices),
        audio,
        error: failureOf(ending, callerError, tries),
      }
      return { generationId, workspaceId: caller.workspace.id, ...waiting(exchange) }
    },
  }
}

/** Larger than any body except forms with files, which are truncated before they are queued. */
const MOST_HELD = 25_000_000

interface Exchange {
  readonly input: GenerationContent['input']
  readonly recording: Recording | null
  readonly completion: unknown
  readonly reasoning: string | null
  readonly audio: AudioTap | null
  readonly error: GenerationContent['error']
}

/** References to prompt and reply, which are truncated and written after the reply was sent. */
function waiting(exchange: Exchange): Pick<EndedContent, 'weight' | 'content'> {
  const { recording, reasoning, audio, error } = exchange
  const input = held(exchange.input)
  const completion = held(exchange.completion)
  return {
    weight:
      input.weight +
      completion.weight +
      (reasoning?.length ?? 0) +
      (recording?.bytes ?? 0) +
      (audio?.bytes() ?? 0),
    async content() {
      return {
        input: await withRecording(limitedInput(input.value), recording),
        output: {
          completion: textOf(audio?.logged() ?? limited(completion.value)),
          reasoning: reasoning === null ? null : shortened(reasoning, MOST_CHARACTERS),
        },
        error,
      }
    },
  }
}

function held(value: unknown): { value: unknown; weight: number } {
  const weight = weigh(value)
  if (weight <= MOST_HELD) return { value, weight }
  const cut = limited(value)
  return { value: cut, weight: weigh(cut) }
}

function limitedInput(input: unknown): GenerationContent['input'] {
  const cut = limited(input)
  if (!isObject(cut)) return { messages: [] }
  const { prompt, messages } = cut
  return typeof prompt === 'string' ? { prompt } : { messages: Array.isArray(messages) ? messages : [] }
}

const textOf = (value: unknown): string | null =>
  typeof value === 'string' || value === null ? value : JSON.stringify(value)

/** True if the caller excluded reasoning from the reply: then it is not logged. */
const hidesReasoning = (request: RoutedRequest): boolean =>
  'reasoning' in request && isObject(request.reasoning) && request.reasoning['exclude'] === true

/** A recording uploaded in a form, which is not part of the JSON body. */
interface Recording {
  readonly format: string
  /** Null: too long for the log. */
  readonly content: Blob | null
  readonly size: number
  /** The memory that it occupies. */
  readonly bytes: number
}

/** Base64 has four characters for three bytes. */
const MOST_BYTES = (MOST_CHARACTERS / 4) * 3

function recordingOf(request: RoutedRequest): Recording | null {
  if (!('audio' in request) || request.body['input_audio'] !== undefined) return null
  const { audio } = request
  if (!isObject(audio) || !(audio['content'] instanceof Blob)) return null
  const { content, name } = audio
  const isKept = content.size <= MOST_BYTES
  return {
    format: String(name).split('.').at(-1) ?? '',
    content: isKept ? content : null,
    size: content.size,
    bytes: isKept ? content.size : 0,
  }
}

/** Adds the recording to the logged input, where a JSON body has it. */
async function withRecording(
  input: GenerationContent['input'],
  recording: Recording | null,
): Promise<GenerationContent['input']> {
  if (recording === null || 'prompt' in input) return input
  const { content, size, format } = recording
  const data =
    content === null
      ? truncationMark(`a recording of ${size} bytes`)
      : Buffer.from(await content.arrayBuffer()).toString('base64')
  const [message] = input.messages
  return { messages: [{ ...(isObject(message) ? message : {}), input_audio: { data, format } }] }
}
