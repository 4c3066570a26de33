/**
 * Time-ordered ids: a later one sorts after an earlier one, so rows are appended to the end of an index
 * (random ids cost ten times the inserts). UUIDv7: 48 bits of milliseconds, then random bits.
 */
const timeOrdered = (): string => Bun.randomUUIDv7('hex').replaceAll('-', '')

/** The id of one generation; also the `id` of every chat reply and chunk. Unique for ever. */
export const newGenerationId = (): string => `gen-${timeOrdered()}`
/** What replies of a dialect call their generation: the same unique part under the prefix that its clients know. */
export const replyIdOf = (generationId: string, prefix: 'resp_' | 'msg_'): string =>
  generationId.replace(/^gen-/, prefix)
/** The inverse: the generation's own id for a `resp_…` or `msg_…` id; any other id as it is. */
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
