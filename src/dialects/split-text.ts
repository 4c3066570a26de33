import type { FrameBatch, InferenceEvent, InferenceFrame } from '../core/events.ts'
import { endOfPiece } from '../core/pieces.ts'

/** Written at once in about a millisecond. */
const PIECE_CHARACTERS = 256 * 1024

/** Frames with text of megabytes as several frames, so that each is measured, filtered and written in a short step. */
export const splitLongText = (batch: FrameBatch): FrameBatch =>
  batch.some(isLong) ? batch.flatMap((frame) => (isLong(frame) ? piecesOf(frame) : frame)) : batch

type TextEvent = Extract<InferenceEvent, { text: string }>

const isText = (event: InferenceEvent): event is TextEvent =>
  event.type === 'text-delta' || event.type === 'reasoning-delta' || event.type === 'refusal-delta'

const isLongText = (event: InferenceEvent): event is TextEvent =>
  isText(event) && event.text.length > PIECE_CHARACTERS

const isLong = ({ events }: InferenceFrame): boolean => events.some(isLongText)

/** Events between long texts stay together. */
function piecesOf({ events }: InferenceFrame): InferenceFrame[] {
  const frames: InferenceFrame[] = []
  let others: InferenceEvent[] = []
  for (const event of events) {
    if (!isLongText(event)) {
      others.push(event)
      continue
    }
    if (others.length > 0) frames.push({ events: others })
    others = []
    for (const text of piecesOfText(event.text)) frames.push({ events: [{ ...event, text }] })
  }
  if (others.length > 0) frames.push({ events: others })
  return frames
}

function piecesOfText(text: string): string[] {
  const pieces: string[] = []
  for (let from = 0, to = 0; from < text.length; from = to) {
    to = endOfPiece(text, from, PIECE_CHARACTERS)
    pieces.push(text.slice(from, to))
  }
  return pieces
}
