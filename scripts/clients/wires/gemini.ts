import type { JsonObject } from '../../../src/core/events.ts'
import { piecesOf, type Turn } from '../script.ts'

const usageMetadata = { promptTokenCount: 20, candidatesTokenCount: 10, totalTokenCount: 30 }

const chunk = (part: JsonObject, finishReason?: string): JsonObject => ({
  candidates: [
    { index: 0, content: { role: 'model', parts: [part] }, ...(finishReason && { finishReason }) },
  ],
  usageMetadata,
  modelVersion: 'scripted',
  responseId: 'scripted',
})

const callPart = (turn: Turn): JsonObject =>
  'call' in turn ? { functionCall: { name: turn.call.name, args: turn.call.arguments } } : {}

export const geminiReply = (turn: Turn): JsonObject =>
  chunk('call' in turn ? callPart(turn) : { text: 'text' in turn ? turn.text : turn.cut }, 'STOP')

export function geminiEvents(turn: Turn): string[] {
  const chunks =
    'call' in turn
      ? [chunk(callPart(turn), 'STOP')]
      : piecesOf('text' in turn ? turn.text : turn.cut).map((text, index, all) =>
          chunk({ text }, 'text' in turn && index === all.length - 1 ? 'STOP' : undefined),
        )
  return chunks.map((event) => `data: ${JSON.stringify(event)}\r\n\r\n`)
}
