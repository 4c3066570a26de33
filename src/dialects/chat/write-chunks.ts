import type { JsonObject } from '../../core/events.ts'
import type { ReplyContext } from '../../core/result.ts'
import { oneLine } from '../one-line.ts'

/**
 * The SSE events of one stream. All share id, created, model and provider, and from the first that has one, the
 * system fingerprint.
 */
export interface Chunks {
  write(fields: JsonObject): string
  /** The chunks of text deltas of choice 0, from the JSON texts of their strings: the same bytes as `write`. */
  splice(jsons: readonly string[], withRole: boolean): string
  /** The events of a failure, after which nothing follows. */
  fail(error: JsonObject, more: JsonObject, idEvent: string): string
  remember(systemFingerprint: string): void
}

const TAIL = '"},"finish_reason":null}]}\n\n'

export function createChunks(reply: ReplyContext): Chunks {
  let head = headOf(reply, undefined)
  let plain = plainOf(head)
  return {
    write: (fields) => `data: ${head}${oneLine(JSON.stringify(fields)).slice(1)}\n\n`,
    splice: (jsons, withRole) =>
      `${withRole ? plain.first : plain.next}${jsons.length === 1 ? jsons[0] : jsons.join(plain.between)}${TAIL}`,
    fail: (error, more, idEvent) => failureEvents(head, error, more, idEvent),
    remember(systemFingerprint) {
      head = headOf(reply, systemFingerprint)
      plain = plainOf(head)
    },
  }
}

/**
 * Two chunks with the same error, in the one form that every client was seen to report:
 * - `error` comes first, since go-openai looks for `data: {"error":`;
 * - the first has no choices: langchain-openrouter looks for an error only there;
 * - the last has the choice with `finish_reason: "error"`, and an annotation that no client has a type for: the AI
 *   SDK's `openai.chat` drops `error` from every chunk that is otherwise valid, and reads it from one that is not;
 * - the id stands between them: go-openai reads an error only before it, clients that connect again the last id;
 * - both are complete chunks: OpenRouter's SDKs throw a parse error at a bare `{"error": …}`.
 */
function failureEvents(head: string, error: JsonObject, more: JsonObject, idEvent: string): string {
  const delta = { content: '', annotations: [{ type: 'error' }] }
  const choices = [{ index: 0, delta, finish_reason: 'error' }]
  const start = `data: {"error":${oneLine(JSON.stringify(error))},${head.slice(1)}`
  const end = oneLine(JSON.stringify({ choices, ...more })).slice(1)
  return `${start}"choices":[]}\n\n${idEvent}${start}${end}\n\n`
}

/** The opened object that every chunk begins with. */
function headOf({ generationId, created, model, providerName }: ReplyContext, fingerprint?: string): string {
  const fields = { id: generationId, object: 'chat.completion.chunk', created, model, provider: providerName }
  const all = fingerprint === undefined ? fields : { ...fields, system_fingerprint: fingerprint }
  return `${oneLine(JSON.stringify(all)).slice(0, -1)},`
}

/** What stands before the JSON text of a plain text delta, and between two of them. */
function plainOf(head: string): { first: string; next: string; between: string } {
  const open = `data: ${head}"choices":[{"index":0,"delta":{`
  const next = `${open}"content":"`
  return { first: `${open}"role":"assistant","content":"`, next, between: TAIL + next }
}
