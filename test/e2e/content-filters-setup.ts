/** A gateway whose keys have guardrails with content filters, in front of a provider of each dialect and route. */
import { expect } from 'bun:test'
import { objectOf } from '../../src/http/json.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { answers, MARK } from './content-filters-requests.ts'
import { filteredProviders } from './filtered-providers.ts'

const model = {
  context_length: 100_000,
  max_completion_tokens: 100,
  pricing: { prompt: '0.000001', completion: '0.000001' },
}

export async function startForContentFilters() {
  let logged = ''
  /** The requests that the provider got for the last one of the caller. */
  const sent: { path: string; body: Record<string, unknown>; text: string }[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname.replace(/^\/v1/, '')
      const isForm = request.headers.get('content-type')?.includes('multipart') ?? false
      const text = await request.text()
      const body = isForm ? {} : objectOf(JSON.parse(text))
      sent.push({ path, body, text })
      return answers[path]?.(body['stream'] === true) ?? new Response('', { status: 404 })
    },
  })
  const log = (line: string) => {
    logged += line
  }
  const gateway = await gatewayOfFile(
    { log, providers: filteredProviders(`http://127.0.0.1:${server.port}/v1`, model) },
    { stop: () => server.stop(true) },
  )
  return {
    gateway,
    sent,
    /** A new key with one guardrail. */
    guarded: async (fields: object): Promise<string> => (await gateway.makeGuardedKey(fields)).key,
    async ask(key: string, path: string, body: unknown, headers: Record<string, string> = {}) {
      sent.length = 0
      const response = await gateway.call(path, body, {
        authorization: `Bearer ${key}`,
        'x-service-metadata': 'enabled',
        ...headers,
      })
      const text = await response.text()
      const json = text.startsWith('{') ? objectOf(JSON.parse(text)) : {}
      return { status: response.status, text, json }
    },
    expectCleanLog(): void {
      expect(logged).toContain('/chat/completions')
      for (const secret of ['ann@site', '4111 1111', '555 0147', 'ACME-1234', 'ignore all previous', MARK]) {
        expect(logged).not.toContain(secret)
      }
    },
  }
}
