import { describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import { API_KEY } from '../../gateway.ts'
import { ask, expectError, HI, startForAnthropic, TOOLS } from './setup.ts'

/** What Anthropic’s clients send that providers of other dialects do not know, and counts of tokens. */

const { upstream, gateway, client, clientOf } = await startForAnthropic()

test('parameters that only Anthropic knows are named in the metadata', async () => {
  upstream.answers = [
    () => Response.json({ choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }] }),
  ]
  const response = await gateway.call(
    '/messages',
    { ...ask({ model: 'plain-1', speed: 'fast' }), context_management: { edits: [] }, lean: 1 },
    { 'x-service-metadata': 'enabled', 'anthropic-beta': 'some-beta-2026-01-01' },
  )
  expect(upstream.seen[0]?.headers.get('anthropic-beta')).toBeNull()
  const { service_metadata } = await response.json()
  expect(service_metadata.params.dropped_parameters).toEqual([
    'anthropic-beta',
    'speed',
    'context_management',
    'lean',
  ])
})

test('a coding agent with everything that it sends is answered by a model of another dialect', async () => {
  const mark = { cache_control: { type: 'ephemeral' } }
  const body = {
    model: 'sluice/demo',
    max_tokens: 32_000,
    stream: true,
    temperature: 1,
    system: [
      { type: 'text', text: 'x-anthropic-billing-header: cc_version=2' },
      { type: 'text', text: 'You are an agent.', ...mark },
    ],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system-reminder>Be brief.</system-reminder>' },
          { type: 'text', text: 'List the files.', ...mark },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'I list.', signature: 'c2ln' },
          { type: 'tool_use', id: 'toolu_1', name: 'Bash', input: { command: 'ls' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: 'a.txt', is_error: false, ...mark },
        ],
      },
    ],
    tools: [
      {
        name: 'Bash',
        description: 'Runs a command.',
        input_schema: {
          $schema: 'https://json-schema.org/draft/2020-12/schema',
          type: 'object',
          properties: { command: { type: 'string' } },
          required: ['command'],
          additionalProperties: false,
        },
        eager_input_streaming: true,
      },
      { type: 'web_search_20250305', name: 'web_search', max_uses: 8 },
    ],
    tool_choice: { type: 'auto' },
    thinking: { type: 'adaptive' },
    output_config: { effort: 'high' },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), session_id: crypto.randomUUID() }) },
  }
  const headers = {
    'x-api-key': API_KEY,
    'content-type': 'application/json',
    'anthropic-version': '2023-06-01',
    'anthropic-beta': 'claude-code-20250219,interleaved-thinking-2025-05-14,context-management-2025-06-27',
  }
  const url = `${gateway.url}/v1/messages`
  const response = await fetch(`${url}?beta=true`, { method: 'POST', headers, body: JSON.stringify(body) })
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  const text = await response.text()
  expect(text).toStartWith('event: message_start\ndata: {"type":"message_start"')
  expect(text).toContain('"stop_reason":"end_turn"')
  expect(text).toEndWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')
  const { stream, max_tokens, ...prompt } = body
  const counted = await fetch(`${url}/count_tokens?beta=true`, {
    method: 'POST',
    headers,
    body: JSON.stringify(prompt),
  })
  expect((await counted.json()).input_tokens).toBeGreaterThan(100)
})

describe('count_tokens', () => {
  const counted = { model: 'lamps', messages: HI, tools: TOOLS, system: 'Be brief.' }

  test('the provider counts if it can', async () => {
    upstream.answers = [() => Response.json({ input_tokens: 1234 })]
    const before = gateway.generations().length
    expect(await client.messages.countTokens(counted)).toEqual({ input_tokens: 1234 })
    expect(upstream.seen[0]?.path).toBe('/claude/v1/messages/count_tokens')
    expect(upstream.seen[0]?.body).toEqual({ ...counted, model: 'claude-sonnet-4-5' })
    expect(gateway.generations().length).toBe(before)
  })

  test.each([
    ['has no such route', () => new Response('Not found', { status: 404 })],
    ['answers without a count', () => Response.json({})],
    [
      'is overloaded',
      () => Response.json({ type: 'error', error: { type: 'overloaded_error' } }, { status: 529 }),
    ],
  ])('the gateway estimates if the provider %s', async (_, answer) => {
    upstream.answers = [answer]
    const { input_tokens } = await client.messages.countTokens(counted)
    expect(input_tokens).toBeGreaterThan(20)
    expect(input_tokens).toBeLessThan(500)
  })

  test('the gateway estimates for other dialects, without a request', async () => {
    const { input_tokens } = await client.messages.countTokens({ ...counted, model: 'plain-1' })
    expect(input_tokens).toBeGreaterThan(20)
    expect(upstream.seen).toEqual([])
  })

  test('a refusal of the prompt is passed on', async () => {
    const error = { type: 'invalid_request_error', message: 'messages: too odd' }
    upstream.answers = [() => Response.json({ type: 'error', error }, { status: 400 })]
    const refused = await expectError(client.messages.countTokens(counted), 400, 'invalid_request_error')
    expect(refused).toBeInstanceOf(Anthropic.BadRequestError)
    expect(refused.message).toContain('messages: too odd')
  })

  test('an unknown model is a 404, and a wrong key a 401', async () => {
    const unknown = client.messages.countTokens({ ...counted, model: 'none' })
    expect(await expectError(unknown, 404, 'not_found_error')).toBeInstanceOf(Anthropic.NotFoundError)
    const keyless = clientOf({ apiKey: 'wrong' }).messages.countTokens(counted)
    expect(await expectError(keyless, 401, 'authentication_error')).toBeInstanceOf(
      Anthropic.AuthenticationError,
    )
  })
})
