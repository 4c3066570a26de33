import type { Caller } from '../../core/caller.ts'
import type { GatewayError } from '../../core/errors.ts'
import type { InferenceFrame } from '../../core/events.ts'
import { type EndedContent, isSampled } from '../../core/generation-content.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { InferenceResult } from '../../core/result.ts'
import type { DispatchLog } from '../attempts.ts'
import { addEvent } from '../collect.ts'
import type { Ending } from '../meter.ts'
import { failureOf } from './failure.ts'
import { inputOf } from './input.ts'
import { limited, MOST_CHARACTERS, shortened, weigh } from './limited.ts'
import { completionOf, cutEvent, lengthOf, reasoningOf } from './output.ts'
import { recordingOf, withRecording } from './recording.ts'
import { createSound, type Sound } from './sound.ts'

/** What is noted of one generation that its workspace logs: what the caller gets, as it gets it. */
export interface ContentRecord {
  /** A frame of a stream, once it is written to the caller. */
  see(frame: InferenceFrame): void
  /** The whole answer of a conversation that was not streamed. */
  take(result: InferenceResult): void
  /** The whole answer of anything else: text as it is, the rest as JSON. */
  say(answer: unknown): void
  /** The same sound, noted as it passes. */
  hear(mediaType: string, chunks: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array>
  /** What the caller is told in place of an answer, or of its rest. */
  fail(told: GatewayError): void
  /** Nothing more is noted after it. */
  end(ending: Ending): EndedContent
}

export interface RecordInput {
  caller: Caller
  request: RoutedRequest
  generationId: string
  log: Pick<DispatchLog, 'tries'>
}

/** Null where the workspace does not log this generation. */
export function recordFor(input: RecordInput): ContentRecord | null {
  const { caller, generationId } = input
  const logging = caller.workspace.contentLogging
  if (logging === undefined) return null
  if (logging.keyIds !== null && !logging.keyIds.has(caller.key.id)) return null
  return isSampled(generationId, logging.samplingRate) ? createRecord(input) : null
}

function createRecord({ caller, request, generationId, log }: RecordInput): ContentRecord {
  let result: InferenceResult = { created: null, choices: [], natives: [] }
  let answer: unknown
  let sound: Sound | null = null
  let told: GatewayError | null = null
  let room = MOST_CHARACTERS
  let isOver = false

  function see({ events }: InferenceFrame): void {
    if (isOver || room <= 0) return
    for (const event of events) {
      const length = lengthOf(event)
      if (length === 0) continue
      addEvent(result, length > room ? cutEvent(event, room) : event)
      room -= length
      if (room <= 0) return
    }
  }

  return {
    see,
    take(whole) {
      result = whole
    },
    say(said) {
      answer = said
    },
    hear(mediaType, chunks) {
      sound = createSound(mediaType)
      return sound.through(chunks)
    },
    fail(failure) {
      if (!isOver) told ??= failure
    },
    end(ending) {
      isOver = true
      const completion = limited(answer ?? completionOf(result.choices))
      const reasoning = hidesReasoning(request) ? null : reasoningOf(result.choices)
      return {
        generationId,
        workspaceId: caller.workspace.id,
        ...together(request, completion, reasoning, sound, failureOf(ending, told, log.tries)),
      }
    },
  }
}

/** What was asked and answered, cut to size, and how it is written down later. */
function together(
  request: RoutedRequest,
  completion: unknown,
  reasoning: string | null,
  sound: Sound | null,
  error: ReturnType<typeof failureOf>,
): Pick<EndedContent, 'weight' | 'content'> {
  const whole = inputOf(request)
  const input =
    'prompt' in whole
      ? { prompt: shortened(whole.prompt, MOST_CHARACTERS) }
      : { messages: listOf(limited(whole.messages)) }
  const recording = recordingOf(request)
  const thoughts = reasoning === null ? null : shortened(reasoning, MOST_CHARACTERS)
  return {
    weight:
      weigh(input) + weigh(completion) + weigh(thoughts) + (recording?.bytes ?? 0) + (sound?.bytes() ?? 0),
    async content() {
      const said = sound?.said() ?? completion
      return {
        input: await withRecording(input, recording),
        output: { completion: said === null ? null : textOf(said), reasoning: thoughts },
        error,
      }
    },
  }
}

const textOf = (said: unknown): string => (typeof said === 'string' ? said : JSON.stringify(said))

const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

/** What a caller asked not to be shown is not shown to whoever reads the log either. */
const hidesReasoning = (request: RoutedRequest): boolean =>
  'reasoning' in request && isObject(request.reasoning) && request.reasoning['exclude'] === true
