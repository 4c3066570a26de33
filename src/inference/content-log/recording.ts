import type { GenerationContent } from '../../core/generation-content.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import { MOST_CHARACTERS, truncationMark } from './limited.ts'

/** A recording uploaded in a form, which is not part of the JSON body. */
export interface Recording {
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

/** Adds the recording to the logged input, where a JSON body has it. */
export async function withRecording(
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
