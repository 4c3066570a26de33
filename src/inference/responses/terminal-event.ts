import type { JsonObject } from '../../core/events.ts'
import type { ResponseStatus } from '../../core/response-status.ts'

// The API has no event for a cancelled response, so it ends as incomplete.
const TYPES: Partial<Record<ResponseStatus, string>> = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  cancelled: 'response.incomplete',
  failed: 'response.failed',
}

/** The last event of a truncated stream. */
export function terminalEvent(status: ResponseStatus, reply: JsonObject, sequence: number): string {
  const type = TYPES[status] ?? 'response.failed'
  return `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: sequence, response: reply })}\n\n`
}

/** True if an SSE event is the last one of its response. */
export function isTerminal(event: string): boolean {
  const type = /"type":"(response\.\w+)"/.exec(event)?.[1]
  return Object.values(TYPES).some((terminal) => terminal === type)
}
