import type { InferenceEvent } from '../core/events.ts'
import type { ResultChoice } from '../core/result.ts'

/** The events of a complete choice, for writers that write a reply as they write a stream. */
export function eventsOfChoice(complete: ResultChoice): InferenceEvent[] {
  const choice = 0
  const { text, reasoning, reasoningDetails, refusal, annotations, images, toolCalls, audio, logprobs } =
    complete
  return [
    { type: 'reasoning-delta', choice, text: reasoning },
    ...reasoningDetails.map((detail) => ({ type: 'reasoning-detail' as const, choice, detail })),
    { type: 'text-delta', choice, text },
    { type: 'refusal-delta', choice, text: refusal },
    ...annotations.map((annotation) => ({ type: 'annotation' as const, choice, annotation })),
    ...images.map((url) => ({ type: 'image' as const, choice, url })),
    ...toolCalls.flatMap(({ arguments: json, ...call }, index): InferenceEvent[] => [
      { type: 'tool-call-start', choice, index, ...call },
      { type: 'tool-call-delta', choice, index, json },
    ]),
    ...(audio === null ? [] : [{ type: 'audio-delta' as const, choice, audio }]),
    ...(logprobs === null ? [] : [{ type: 'logprobs' as const, choice, logprobs }]),
  ]
}
