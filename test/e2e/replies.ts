import { join } from 'node:path'
import { FIXTURES } from '../recordings.ts'
import { sse } from '../upstream.ts'

/** A provider's answer from `test/fixtures/<dialect>`. */
export const fixturesOf =
  (dialect: string) =>
  (file: string, status = 200) =>
  async (): Promise<Response> =>
    new Response(await Bun.file(join(FIXTURES, dialect, file)).bytes(), {
      status,
      headers: { 'content-type': file.endsWith('.sse') ? 'text/event-stream' : 'application/json' },
    })

/** A chat request. */
export const ask = (model: string, more: Record<string, unknown> = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
})

/** One event as text, without a name or named by its type. */
export const dataOf = (value: unknown): string => `data: ${JSON.stringify(value)}\n\n`
export const namedOf = (event: object): string =>
  `event: ${'type' in event ? event.type : ''}\n${dataOf(event)}`

/** A stream of events, each an object as the data of one or its text. */
export const events =
  (...list: unknown[]) =>
  (): Response =>
    sse(list.map((each) => (typeof each === 'string' ? each : dataOf(each))))

/** A stream of events that are named by their type. */
export const namedEvents =
  (...list: readonly object[]) =>
  (): Response =>
    sse(list.map(namedOf))

/** A completed reply of the Responses API with this text. */
export const responseWith = (text: string, usage: object) => ({
  id: 'r',
  object: 'response',
  status: 'completed',
  output: [
    {
      type: 'message',
      id: 'i',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text, annotations: [] }],
    },
  ],
  usage,
})
