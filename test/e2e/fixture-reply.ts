import { join } from 'node:path'
import { FIXTURES } from '../recordings.ts'

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
