import type { JsonObject } from './events.ts'

/** What streams send in pieces, put together in place: there may be as many pieces as a stream has events. */

/** `data` and `transcript` of a sound are appended, everything else is replaced. `audio` is changed. */
export function addAudio(audio: JsonObject, more: JsonObject): void {
  for (const [key, value] of Object.entries(more)) {
    const before = audio[key]
    const isPiece = key === 'data' || key === 'transcript'
    audio[key] = isPiece && typeof before === 'string' && typeof value === 'string' ? before + value : value
  }
}

/** Lists of token records are appended; a null is skipped, all other values are replaced. `logprobs` is changed. */
export function addLogprobs(logprobs: JsonObject, more: JsonObject): void {
  for (const [key, value] of Object.entries(more)) {
    const before = logprobs[key]
    if (value === undefined) continue
    if (!Array.isArray(value)) logprobs[key] = value ?? before ?? null
    else if (Array.isArray(before)) for (const record of value) before.push(record)
    else logprobs[key] = [...value]
  }
}

/** The end of the next piece of at most `most` UTF-16 units; does not split a surrogate pair. */
export function endOfPiece(text: string, start: number, most: number): number {
  const end = start + most
  if (end >= text.length) return text.length
  const last = text.charCodeAt(end - 1)
  return last >= 0xd800 && last < 0xdc00 ? end - 1 : end
}
