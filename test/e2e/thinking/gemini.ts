import type { JsonObject } from '../../../src/core/events.ts'
import { isObject } from '../../../src/core/json.ts'
import * as turn from './turn.ts'

/** Thoughts of Gemini’s API. */

const geminiParts = (isFirst: boolean): JsonObject[] =>
  isFirst
    ? [
        { text: turn.THOUGHT, thought: true },
        { text: turn.SAID },
        ...turn.CALLS.map(({ name, args }, i) => ({
          functionCall: Object.keys(args).length === 0 ? { name } : { name, args },
          // Of calls in parallel the first alone is signed.
          ...(i === 0 ? { thoughtSignature: turn.SIGNATURES.gemini } : {}),
        })),
      ]
    : // The signature of an answer stands on an empty text behind it.
      [{ text: turn.ANSWER }, { text: '', thoughtSignature: turn.SIGNATURES.geminiAnswer }]

export const gemini: turn.Reply = (isFirst, isStream) => {
  const usageMetadata = {
    promptTokenCount: 30,
    candidatesTokenCount: 15,
    thoughtsTokenCount: 5,
    totalTokenCount: 50,
  }
  const chunk = (parts: JsonObject[], more: JsonObject = {}): JsonObject => ({
    candidates: [{ content: { role: 'model', parts }, index: 0, ...more }],
    usageMetadata,
    modelVersion: 'gemini-3-up',
    responseId: 'up',
  })
  const parts = geminiParts(isFirst)
  if (!isStream) return Response.json(chunk(parts, { finishReason: 'STOP' }))
  const chunks = [...parts.map((part) => chunk([part])), chunk([{ text: '' }], { finishReason: 'STOP' })]
  return turn.sse(chunks.map((each) => `data: ${JSON.stringify(each)}\r\n\r\n`).join(''))
}

export const ofGemini = ({ contents }: JsonObject): turn.Conversation => turn.listOf(contents).slice(1)
export const forGemini: turn.Conversation = [
  {
    role: 'model',
    parts: geminiParts(true).map(({ functionCall, ...part }) =>
      isObject(functionCall) ? { functionCall: { args: {}, ...functionCall }, ...part } : part,
    ),
  },
  {
    role: 'user',
    parts: turn.RESULTS.map((output, i) => ({
      functionResponse: { name: turn.CALLS[i]?.name, response: { output } },
    })),
  },
]
