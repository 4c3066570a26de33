import type { EndedContent, ExportedContent, GenerationContent } from '../../core/generation-content.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import { withoutMedia } from '../../exporters/media.ts'
import type { AudioTap } from './audio-tap.ts'
import { limited, MOST_CHARACTERS, shortened, truncationMark, weigh } from './limited.ts'

/** Larger than any body except forms with files, which are truncated before they are queued. */
const MOST_HELD = 25_000_000

/** What a generation's caller sent and got. */
export interface Exchange {
  readonly input: GenerationContent['input']
  readonly recording: Recording | null
  readonly completion: unknown
  readonly reasoning: string | null
  readonly audio: AudioTap | null
  readonly error: GenerationContent['error']
}

/** References to prompt and reply, which are truncated and written after the reply was sent. */
export function waiting(exchange: Exchange): Pick<EndedContent, 'weight' | 'content'> {
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

/** The same for destinations. Media are named by type and size. */
export function exportedOf(
  exchange: Exchange,
  { unexpanded, body }: RoutedRequest,
): Pick<EndedContent<ExportedContent>, 'weight' | 'content'> {
  const { recording, reasoning, audio, error } = exchange
  const input = held(exchange.input)
  const completion = held(exchange.completion)
  const tools = held((unexpanded ?? body)['tools'])
  return {
    weight: input.weight + completion.weight + tools.weight + (reasoning?.length ?? 0),
    async content() {
      const declared = limited(tools.value)
      const spoken = audio === null ? null : marker(audio.mediaType, audio.bytes())
      return {
        input: withRecordingNamed(limitedInput(withoutMedia(input.value)), recording),
        output: {
          completion: spoken ?? textOf(limited(withoutMedia(completion.value))),
          reasoning: reasoning === null ? null : shortened(reasoning, MOST_CHARACTERS),
        },
        tools: Array.isArray(declared) ? declared : null,
        error: error?.message ?? null,
      }
    },
  }
}

const marker = (type: string, bytes: number): string => `[${type}, ${bytes} bytes]`

function withRecordingNamed(
  input: GenerationContent['input'],
  recording: Recording | null,
): GenerationContent['input'] {
  if (recording === null || 'prompt' in input) return input
  const [message] = input.messages
  const data = marker(`audio/${recording.format.replace(/[^\w.+-]/g, '')}`, recording.size)
  return { messages: [{ ...(isObject(message) ? message : {}), input_audio: { data } }] }
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

export function recordingOf(request: RoutedRequest): Recording | null {
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

/** Adds the recording to the logged input, in the place that a JSON body has for it. */
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
