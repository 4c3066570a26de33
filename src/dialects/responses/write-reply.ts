import type { InferenceEvent, JsonObject } from '../../core/events.ts'
import { isString } from '../../core/json.ts'
import type { Closing, InferenceResult, ReplyContext, ResultChoice } from '../../core/result.ts'
import { merged } from './carried.ts'
import { addEvents, nativeEventOf, nativeResponseOf, outputFor } from './reply-output.ts'
import { MUTE } from './write-events.ts'
import { endingOf, viewResponse } from './write-response.ts'

/**
 * A complete reply as a response. The items of a Responses provider are forwarded; any other reply
 * becomes items as its stream would.
 */
export function writeResponsesReply(
  result: InferenceResult,
  reply: ReplyContext,
  closing: Closing,
): JsonObject {
  const natives: InferenceEvent[] = result.natives.map(({ dialect, data }) => ({
    type: 'native',
    dialect,
    data,
  }))
  const output = outputFor(reply, MUTE)
  const items = natives.filter((event) => nativeEventOf(event)?.item !== undefined)
  if (result.frames) for (const { events } of result.frames) addEvents(output, events)
  else if (items.length > 0) addEvents(output, items)
  else for (const frame of framesOf(result.choices.find(({ index }) => index === 0))) addEvents(output, frame)
  const reported = natives.flatMap((event) => nativeResponseOf(event) ?? [])
  const native: JsonObject | null = reported.length === 0 ? null : Object.assign({}, ...reported)
  const ending = endingOf(closing)
  output.close(ending.itemStatus)
  return viewResponse(reply, { ...ending, output: output.items(), closing, native })
}

/** The reply as the events of a stream, each piece of reasoning with its detail. */
function framesOf(choice: ResultChoice | undefined): InferenceEvent[][] {
  if (choice === undefined) return []
  const shared = { choice: 0 } as const
  const { text, refusal, annotations, images, audio, logprobs, toolCalls } = choice
  return [
    ...thoughtsOf(choice),
    [
      ...(text === '' ? [] : [{ ...shared, type: 'text-delta' as const, text }]),
      ...(logprobs ? [{ ...shared, type: 'logprobs' as const, logprobs }] : []),
      ...annotations.map((annotation) => ({ ...shared, type: 'annotation' as const, annotation })),
      ...(refusal === '' ? [] : [{ ...shared, type: 'refusal-delta' as const, text: refusal }]),
      ...(audio ? [{ ...shared, type: 'audio-delta' as const, audio }] : []),
      ...images.map((url) => ({ ...shared, type: 'image' as const, url })),
    ],
    toolCalls.flatMap(({ arguments: json, ...call }, index) => [
      { ...shared, ...call, type: 'tool-call-start' as const, index },
      { ...shared, type: 'tool-call-delta' as const, index, json },
    ]),
  ]
}

/** If the details have the same text as the reasoning they also show its parts; else they are separate pieces. */
function thoughtsOf({ reasoning, reasoningDetails }: ResultChoice): InferenceEvent[][] {
  const texts = merged(reasoningDetails).map((detail) => ({ detail, text: textOf(detail) }))
  const isSame = texts.map(({ text }) => text).join('') === reasoning
  const delta = (text: string): InferenceEvent[] =>
    text === '' ? [] : [{ type: 'reasoning-delta', choice: 0, text }]
  return [
    ...(isSame ? [] : [delta(reasoning)]),
    ...texts.map(({ detail, text }): InferenceEvent[] => [
      ...(isSame ? delta(text) : []),
      { type: 'reasoning-detail', choice: 0, detail: { ...detail, type: String(detail.type) } },
    ]),
  ]
}

const textOf = ({ text, summary }: JsonObject): string => [text, summary].filter(isString).join('')
