import type { Attempt } from '../../core/attempt.ts'
import type { ContentPart, InferenceRequest, Message, ToolCall } from '../../core/request.ts'
import type { ResultChoice } from '../../core/result.ts'
import type { EndedCall } from './ended-call.ts'
import type { TurnPiece } from './turn.ts'
import type { WrittenCall } from './written-call.ts'

/** The text and the calls of one step. */
interface Step {
  readonly reply: ResultChoice | undefined
  /** The same in its order, with what only the provider's dialect has; null: it has nothing of that. */
  readonly pieces: readonly TurnPiece[] | null
  readonly calls: readonly WrittenCall[]
  readonly results: readonly EndedCall[]
  /** The next step may call no tools. */
  readonly isLast: boolean
}

/** The conversation with the model's calls and their results. */
export function nextRequest(
  request: InferenceRequest,
  { model, provider }: Attempt,
  { reply, pieces, calls, results, isLast }: Step,
): InferenceRequest {
  const turns = turnsOf(reply, pieces, callsOf(calls))
  const answers = results.map(
    ({ call, message }): Message => ({ role: 'tool', toolCallId: call.id, content: message }),
  )
  const { toolChoice: asked, preferences, models } = request
  const findings = results.flatMap((result) => result.findings)
  const isForced = asked === 'required' || typeof asked === 'object'
  const toolChoice = isLast ? 'none' : isForced ? 'auto' : asked
  return {
    ...request,
    messages: [...request.messages, ...turns, ...answers],
    ...(toolChoice && { toolChoice }),
    ...(findings.length > 0 && { pipeline: [...(request.pipeline ?? []), ...findings] }),
    // The thoughts of the first step are signed by its provider.
    models: [...new Set([model.id, ...models])],
    preferences: { ...preferences, order: [...new Set([provider.slug, ...(preferences.order ?? [])])] },
  }
}

const callsOf = (calls: readonly WrittenCall[]): ToolCall[] =>
  calls.map(({ id, name, json, extra }) => ({
    id,
    name,
    arguments: json.trim() === '' ? '{}' : json,
    ...(extra && { extra }),
  }))

/** The model's output, as turns. A thought begins a new one: providers want it in front of what it led to. */
function turnsOf(
  { text, reasoning, reasoningDetails = [] }: Partial<ResultChoice> = {},
  pieces: readonly TurnPiece[] | null,
  toolCalls: ToolCall[],
): Message[] {
  const turn = (content: Message['content'], details: Message['reasoningDetails'] = []): Message => ({
    role: 'assistant',
    content,
    ...(details.length > 0 && { reasoningDetails: details }),
  })
  const turns =
    pieces === null
      ? [turn(text ? text : null, reasoningDetails)]
      : segmentsOf(pieces, reasoningDetails).map(({ parts, details }) =>
          turn(parts.length === 0 ? null : parts, details),
        )
  const last = turns.at(-1)
  const thinking = turns.find(({ reasoningDetails: details }) => details) ?? turns[0]
  if (thinking && reasoning) thinking.reasoning = reasoning
  if (last) last.toolCalls = toolCalls
  return turns
}

interface Segment {
  readonly parts: ContentPart[]
  readonly details: NonNullable<Message['reasoningDetails']>
}

/** A dialect whose thoughts are not pieces has all of them in front. */
function segmentsOf(pieces: readonly TurnPiece[], all: NonNullable<Message['reasoningDetails']>): Segment[] {
  const hasThoughts = pieces.some(({ type }) => type === 'thought')
  let segment: Segment = { parts: [], details: hasThoughts ? [] : [...all] }
  const segments = [segment]
  for (const piece of pieces) {
    if (piece.type === 'thought') {
      if (segment.parts.length > 0) {
        segment = { parts: [], details: [] }
        segments.push(segment)
      }
      segment.details.push(...piece.details)
    } else addPart(piece, segment.parts)
  }
  return segments
}

/** Pieces of a text that was streamed are one part. */
function addPart(piece: Exclude<TurnPiece, { type: 'thought' }>, parts: ContentPart[]): void {
  const last = parts.at(-1)
  if (piece.type === 'own') parts.push({ type: 'unknown', data: piece.data })
  else if (last?.type === 'text') last.text += piece.text
  else parts.push({ type: 'text', text: piece.text })
}
