/** A gateway whose providers are stored by administration, and a provider on loopback that they lead to. */
import { afterAll, afterEach, expect } from 'bun:test'
import { API_KEY } from '../gateway.ts'
import { call, type Reply } from '../scenario.ts'
import { administration } from './administration.ts'
import { dataOf, listOf } from './people.ts'

export const ENTRIES = '/providers/entries'
export const CREDENTIALS = '/providers/credentials'
export const SECRET = 'canary-of-the-entry-0123456789'
const MODELS = '{"data":[{"id":"tiny"},{"id":"small"}]}'

/** For the tests of one file. After each test every entry and credential is deleted. */
export function startProviders() {
  /** The requests that the provider received. */
  const seen: { method: string; path: string; key: string }[] = []
  /** What it replies to a request for its models. */
  const list = { status: 200, body: MODELS }
  const upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url)
      const key = request.headers.get('authorization') ?? request.headers.get('x-api-key') ?? ''
      seen.push({ method: request.method, path: pathname, key })
      if (pathname.endsWith('/models')) return new Response(list.body, { status: list.status })
      await request.text()
      return Response.json({
        id: 'up-1',
        model: 'tiny',
        choices: [{ index: 0, message: { role: 'assistant', content: 'Hello' }, finish_reason: 'stop' }],
        usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
      })
    },
  })
  const admin = administration({
    providers: [{ slug: 'written', base_url: 'http://127.0.0.1:1/v1', models: [{ id: 'w' }] }],
    environment: { MISTRAL_API_KEY: 'canary-of-the-environment' },
  })
  const { manage } = admin
  afterEach(async () => {
    for (const { slug } of await listed(ENTRIES)) await manage('DELETE', `${ENTRIES}/${slug}`)
    for (const { id } of await listed(CREDENTIALS)) await manage('DELETE', `${CREDENTIALS}/${id}`)
    seen.length = 0
    Object.assign(list, { status: 200, body: MODELS })
  })
  afterAll(() => upstream.stop(true))

  const listed = async (path: string) => listOf(await manage('GET', path))
  const address = (): string => `http://127.0.0.1:${upstream.port}/v1`
  const lab = (fields: object = {}) => ({
    slug: 'lab',
    base_url: address(),
    models: [{ id: 'tiny', pricing: { prompt: '0', completion: '0' } }],
    ...fields,
  })
  async function make(path: string, body: object): Promise<Record<string, unknown>> {
    const reply = await manage('POST', path, body)
    expect([reply.status, reply.text]).toEqual([201, expect.any(String)])
    return dataOf(reply)
  }
  async function refusedWith(
    status: number,
    words: string,
    method: string,
    path: string,
    body: object,
  ): Promise<void> {
    const reply = await manage(method, path, body)
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(words)])
    expect(reply.text).not.toContain('canary')
  }
  const ask = (model = 'tiny', provider: object = {}): Promise<Reply> =>
    call(admin.handler, {
      method: 'POST',
      path: '/v1/chat/completions',
      key: API_KEY,
      body: { model, provider, max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] },
    })
  return { admin, manage, seen, list, listed, address, lab, make, refusedWith, ask }
}
