import type { JsonObject } from '../../core/events.ts'
import type { ReplyContext } from '../../core/result.ts'
import { oneLine } from '../one-line.ts'

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
