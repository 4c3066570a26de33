import { describe, expect, test } from 'bun:test'
import { chat, messages, startForLoggedContents, text } from './setup.ts'

/** What GET /generation/content returns of a generation that failed. */

const { gateway, contentOf, loggedOf } = await startForLoggedContents()

describe('the logged error', () => {
  const failure = (message: string, status: number | null, more: object = {}) => ({
    message,
    status,
    provider_name: 'Lab',
    raw: null,
    previous_errors: [],
    ...more,
  })
  const failures: [name: string, body: Record<string, unknown>, output: unknown, error: unknown][] = [
    ['a refusal', chat('refuses'), text(null), failure('the text is too long', 400)],
    [
      'a failure everywhere',
      chat('breaks'),
      text(null),
      failure('Spare answered with an error of its own', 502, {
        provider_name: 'Spare',
        previous_errors: ['Lab', 'Spare'].map((provider_name) => ({
          code: 500,
          message: `${provider_name} replied with status 500 (server)`,
          provider_name,
          raw: null,
        })),
      }),
    ],
    [
      'a truncated answer',
      chat('cut', { stream: true }),
      text('High'),
      failure('Lab ended the answer before it was complete', 502),
    ],
  ]
  test.each(failures)('of %s is the one that the caller got', async (_, body, output, error) => {
    expect(await loggedOf('/chat/completions', body)).toEqual({ input: messages, output, error })
  })

  test('of a client disconnect comes with the text that was delivered', async () => {
    const disconnect = new AbortController()
    const response = await fetch(`${gateway.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: 'Bearer test-inference-key-0123456789abcdefghij' },
      body: JSON.stringify(chat('hangs', { stream: true })),
      signal: disconnect.signal,
    })
    const id = response.headers.get('x-generation-id') ?? ''
    await response.body?.getReader().read()
    disconnect.abort()
    await until(() => gateway.generations().some((each) => each['id'] === id))
    expect(await contentOf(id)).toEqual({
      input: messages,
      output: text('High'),
      error: failure('The client disconnected or cancelled the request before the end', null),
    })
  })
})

const until = async (holds: () => boolean): Promise<void> => {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
