import type { JsonObject } from '../../core/events.ts'
import type { ReplyContext } from '../../core/result.ts'

/**
 * The SSE events of one stream. All share id, created, model and provider, and from the first that has one, the
 * system fingerprint.
 */
export interface Chunks {
  write(fields: JsonObject): string
  /** The chunk of one text delta of choice 0, from the JSON text of the string: the same bytes as `write`. */
  splice(json: string, withRole: boolean): string
  remember(systemFingerprint: string): void
}

/** These end a line for some SSE clients, though JSON may carry the last three bare: always escaped. */
const LINE_ENDS = /[\n\r\u0085\u2028\u2029]/
const BARE_LINE_ENDS = /[\u0085\u2028\u2029]/g
const escapeUnit = (unit: string): string => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`

/** Text can never end an event: JSON escapes CR and LF, and the rest is escaped here. */
const oneLine = (json: string): string =>
  LINE_ENDS.test(json) ? json.replace(BARE_LINE_ENDS, escapeUnit) : json

export const mayBeSpliced = (json: string): boolean => !LINE_ENDS.test(json)

const TAIL = '"},"finish_reason":null}]}\n\n'

export function createChunks(reply: ReplyContext): Chunks {
  let head = headOf(reply, undefined)
  let plain = plainOf(head)
  return {
    write: (fields) => `data: ${head}${oneLine(JSON.stringify(fields)).slice(1)}\n\n`,
    splice: (json, withRole) => `${withRole ? plain.first : plain.next}${json}${TAIL}`,
    remember(systemFingerprint) {
      head = headOf(reply, systemFingerprint)
      plain = plainOf(head)
    },
  }
}

/** The opened object that every chunk begins with. */
function headOf({ generationId, created, model, providerName }: ReplyContext, fingerprint?: string): string {
  const fields = { id: generationId, object: 'chat.completion.chunk', created, model, provider: providerName }
  const all = fingerprint === undefined ? fields : { ...fields, system_fingerprint: fingerprint }
  return `${oneLine(JSON.stringify(all)).slice(0, -1)},`
}

/** What stands before the JSON text of a plain text delta. */
function plainOf(head: string): { first: string; next: string } {
  const open = `data: ${head}"choices":[{"index":0,"delta":{`
  return { first: `${open}"role":"assistant","content":"`, next: `${open}"content":"` }
}
