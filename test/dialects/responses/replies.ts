import { join } from 'node:path'
import type { JsonObject } from '../../../src/core/events.ts'
import { responsesEgress } from '../../../src/dialects/responses/index.ts'
import { FIXTURES } from '../../recordings.ts'
import { upstreamReply } from '../../upstream-reply.ts'
import { type Outcome, outcomeOf } from '../chat/outcome.ts'

export const read = (body: string, isStream: boolean): Promise<Outcome> =>
  outcomeOf(responsesEgress.read(upstreamReply(body), isStream))

export const fixture = async (file: string): Promise<Outcome> =>
  read(await Bun.file(join(FIXTURES, 'responses', file)).text(), file.endsWith('.sse'))

export const sse = (events: readonly JsonObject[]): string =>
  events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join('')

export const created = {
  type: 'response.created',
  response: { id: 'r', model: 'm', created_at: 7, status: 'in_progress' },
}

export const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }

export const completed = (output: JsonObject[] = [], more: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: { id: 'r', object: 'response', status: 'completed', output, usage, ...more },
})

/** Reads a response with this output, not streamed. */
export const unary = (output: JsonObject[], more: JsonObject = {}): Promise<Outcome> =>
  read(JSON.stringify({ id: 'r', object: 'response', status: 'completed', output, usage, ...more }), false)

export const streamed = (...events: JsonObject[]): Promise<Outcome> => read(sse([created, ...events]), true)

export const message = (text: string, more: JsonObject = {}): JsonObject => ({
  type: 'message',
  id: 'msg',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [], ...more }],
})
