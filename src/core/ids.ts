/**
 * Time-ordered ids: a later one sorts after an earlier one, so rows are appended to the end of an index
 * (random ids cost ten times the inserts). UUIDv7 (RFC 9562, method 1): 48 bits of milliseconds, a counter of 12 bits
 * for the ids of one millisecond, 62 random bits. Written here, because a UUID of the runtime must be cut apart again.
 */
function timeOrdered(): string {
  const now = Date.now()
  // A clock that is set back, or a full counter, must not bring an id before an earlier one.
  if (now > millisecond || counter === LAST_OF_COUNTER) {
    millisecond = Math.max(now, millisecond + 1)
    timeText = millisecond.toString(16).padStart(12, '0')
    counter = 0
  } else counter += 1
  return timeText + (VERSION + counter).toString(16) + randomTail()
}

/** The version's digit before the three of the counter. */
const VERSION = 0x7000
const LAST_OF_COUNTER = 0xfff
let millisecond = 0
let timeText = ''
let counter = 0

const TAIL_BYTES = 8
const TAIL_CHARACTERS = 2 * TAIL_BYTES
/** One call for random bytes costs as much as five ids. */
const TAILS_OF_A_BLOCK = 64
let block = ''
let blockAt = 0

/** The variant's two bits and 62 random ones, in hex. */
function randomTail(): string {
  if (blockAt === block.length) {
    const bytes = crypto.getRandomValues(new Uint8Array(TAILS_OF_A_BLOCK * TAIL_BYTES))
    for (let at = 0; at < bytes.length; at += TAIL_BYTES) bytes[at] = ((bytes[at] ?? 0) & 0x3f) | 0x80
    block = bytes.toHex()
    blockAt = 0
  }
  blockAt += TAIL_CHARACTERS
  return block.slice(blockAt - TAIL_CHARACTERS, blockAt)
}

/** The id of one generation; also the `id` of every chat reply and chunk. Unique forever. */
export const newGenerationId = (): string => `gen-${timeOrdered()}`
/** Ids of generations of this time, in milliseconds since 1970, and of later ones do not sort before it. */
export const firstIdAt = (at: number): string => `gen-${Math.max(0, at).toString(16).padStart(12, '0')}`
/** The id of a generation in replies of a dialect: the same unique part with the prefix that its clients expect. */
export const replyIdOf = (generationId: string, prefix: 'resp_' | 'msg_'): string =>
  generationId.replace(/^gen-/, prefix)
/** The inverse: the generation's own id for a `resp_…` or `msg_…` id; any other id unchanged. */
export const generationIdOf = (id: string): string => id.replace(/^(?:resp|msg)_/, 'gen-')
/** The id of one HTTP request, in logs and in `x-request-id`. */
export const newRequestId = (): string => `req-${timeOrdered()}`
export const newUserId = (): string => `user_${timeOrdered()}`
export const newOrganizationId = (): string => `org_${timeOrdered()}`
/** Of an uploaded file. */
export const newFileId = (): string => `file_${timeOrdered()}`
/** For records whose id the API documents as a UUID. */
export const newUuid = (): string => Bun.randomUUIDv7()
/** A tool call without an id from upstream gets one: clients match results by it. */
export const newToolCallId = (): string => `call_${timeOrdered()}`
