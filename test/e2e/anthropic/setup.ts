/** Anthropic's own client in front of a gateway with a scripted provider of each dialect. */
import { expect } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { gatewayOfFile, providersAt, queuedUpstream, readJson } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'

const pricing = {
  prompt: '0.000001',
  completion: '0.000002',
  input_cache_read: '0.0000001',
  input_cache_write: '0.00000125',
}

export async function startForAnthropic() {
  const upstream = queuedUpstream(readJson)
  const provider = providersAt(upstream.origin)
  const gateway = await gatewayOfFile(
    {
      listens: true,
      environment: {
        OPENROUTER_API_KEY: 'secret-of-openrouter',
        OPENROUTER_BASE_URL: `${upstream.origin}/or/v1`,
      },
      providers: [
        provider('claude', 'messages', '/claude/v1', [
          { id: 'lamps', upstream_id: 'claude-sonnet-4-5', max_completion_tokens: 9000, pricing },
          { id: 'shared', upstream_id: 'claude-haiku-4-5', pricing },
        ]),
        provider('google', 'gemini', '/google/v1beta', [
          { id: 'tides', upstream_id: 'gemini-3-tides', pricing },
        ]),
        provider('open', 'responses', '/open/v1', [{ id: 'tide-1', pricing }]),
        provider('plain', 'chat', '/plain/v1', [{ id: 'plain-1', pricing }]),
      ],
    },
    upstream,
  )
  gateway.deps.run.wait = async () => undefined
  const clientOf = (keys: { apiKey: string } | { authToken: string }): Anthropic =>
    new Anthropic({ apiKey: null, authToken: null, ...keys, baseURL: gateway.url, maxRetries: 0 })
  return { upstream, gateway, clientOf, client: clientOf({ authToken: API_KEY }) }
}

/** A reply of Anthropic with every field that the gateway passes on. */
export const MESSAGE = {
  id: 'msg_upstream',
  type: 'message',
  role: 'assistant',
  model: 'claude-upstream',
  content: [{ type: 'text', text: 'Hello.', citations: null }],
  stop_reason: 'stop_sequence',
  stop_sequence: 'END',
  container: { id: 'container_1', expires_at: '2026-01-01T00:00:00Z' },
  context_management: { applied_edits: [] },
  usage: {
    input_tokens: 10,
    cache_creation_input_tokens: 20,
    cache_read_input_tokens: 30,
    cache_creation: { ephemeral_5m_input_tokens: 15, ephemeral_1h_input_tokens: 5 },
    output_tokens: 4,
    service_tier: 'standard',
    inference_geo: 'eu',
  },
}

export const HI: Anthropic.MessageParam[] = [{ role: 'user', content: 'Hi' }]
export const ask = (more: Partial<Anthropic.MessageCreateParamsNonStreaming> = {}) => ({
  model: 'lamps',
  max_tokens: 8000,
  messages: HI,
  ...more,
})
export const TOOLS: Anthropic.Tool[] = ['set_lamp', 'list_lamps', 'now', 'tide', 'get_tide'].map((name) => ({
  name,
  input_schema: { type: 'object' },
}))

/** Expects an error of this status and type in Anthropic's form, with the request's id. */
export async function expectError(run: PromiseLike<unknown>, status: number, type: string) {
  let error: unknown = null
  try {
    await run
  } catch (thrown) {
    error = thrown
  }
  if (!(error instanceof Anthropic.APIError)) throw new Error(`no APIError but ${String(error)}`)
  const { error: body, requestID } = error
  expect(error.status).toBe(status)
  expect<unknown>(body).toMatchObject({ type: 'error', error: { type }, request_id: requestID })
  expect(requestID).toMatch(/^req-/)
  return error
}
