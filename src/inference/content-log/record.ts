import type { Caller } from '../../core/caller.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { InferenceFrame } from '../../core/events.ts'
import type { AttemptOutcome } from '../../core/generation.ts'
import { type EndedContent, type ExportedContent, isSampled } from '../../core/generation-content.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { InferenceResult } from '../../core/result.ts'
import type { WorkspaceRecord } from '../../core/snapshot.ts'
import { addEvent } from '../reply/collect.ts'
import type { Ending } from '../reply/meter.ts'
import { type AudioTap, createAudioTap } from './audio-tap.ts'
import { type Exchange, exportedOf, recordingOf, waiting } from './exchange.ts'
import { failureOf } from './failure.ts'
import { inputOf } from './input.ts'
import { MOST_CHARACTERS } from './limited.ts'
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
  end(ending: Ending): EndedRecord
}

/** The recorded contents, each null if it is not needed. */
export interface EndedRecord {
  readonly logged: EndedContent | null
  readonly exported: EndedContent<ExportedContent> | null
}

/** What the contents are recorded for. */
interface Uses {
  readonly isLogged: boolean
  readonly isExported: boolean
}

export interface RecordInput {
  caller: Caller
  request: RoutedRequest
  generationId: string
  tries: readonly AttemptOutcome[]
}

/** Whether the contents of some generations of the workspace are recorded. */
export const recordsContents = ({ contentLogging, exports }: WorkspaceRecord): boolean =>
  contentLogging !== undefined || exports?.content === true

/** Null if the workspace neither logs this generation nor has a destination for its content. */
export function recordFor(input: RecordInput): ContentRecord | null {
  const isLogged = logs(input)
  const isExported = input.caller.workspace.exports?.content === true
  return isLogged || isExported ? createRecord(input, { isLogged, isExported }) : null
}

function logs({ caller, generationId }: RecordInput): boolean {
  const logging = caller.workspace.contentLogging
  if (logging === undefined) return false
  if (logging.keyIds !== null && !logging.keyIds.has(caller.key.id)) return false
  return isSampled(generationId, logging.samplingRate)
}

/** Reserved for the truncation marker and the JSON around a text, so that a truncated text is not truncated again. */
const FRAME_CHARACTERS = 1_000

function createRecord(
  { caller, request, generationId, tries }: RecordInput,
  { isLogged, isExported }: Uses,
): ContentRecord {
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
      const of = { generationId, workspaceId: caller.workspace.id }
      return {
        logged: isLogged ? { ...of, ...waiting(exchange) } : null,
        exported: isExported ? { ...of, ...exportedOf(exchange, request) } : null,
      }
    },
  }
}

/** True if the caller excluded reasoning from the reply: then it is not logged. */
const hidesReasoning = (request: RoutedRequest): boolean =>
  'reasoning' in request && isObject(request.reasoning) && request.reasoning['exclude'] === true
