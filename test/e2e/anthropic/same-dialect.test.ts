import { describe, expect, test } from 'bun:test'
import { fixturesOf } from '../replies.ts'
import { ask, MESSAGE, startForAnthropic } from './setup.ts'

/** Anthropic’s own client in front of a provider of the same dialect. */

const { upstream, gateway, client } = await startForAnthropic()
const messages = fixturesOf('messages')

describe('a reply of Anthropic', () => {
  test('is passed on with the gateway’s id, model and cost', async () => {
    upstream.answers = [() => Response.json(MESSAGE)]
    const { data, response } = await client.messages.create(ask()).withResponse()
    const { id, usage, ...rest } = data
    const { id: _, usage: sent, ...own } = MESSAGE
    // @ai-sdk/anthropic refuses `citations: null`.
    const content = [{ type: 'text', text: 'Hello.' }]
    expect<object>(rest).toEqual({ ...own, content, model: 'lamps', provider: 'claude' })
    expect(id).toMatch(/^msg_[0-9a-f]{32}$/)
    expect<object>(usage).toMatchObject({ ...sent, cost: 0.000046 })
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
    const record = await (await gateway.call(`/generation?id=${id}`)).json()
    expect(record.data).toMatchObject({
      id: id.replace('msg_', 'gen-'),
      api_type: 'messages',
      upstream_id: 'msg_upstream',
      native_tokens_prompt: 60,
      total_cost: 0.000046,
      native_finish_reason: 'stop_sequence',
    })
  })

  test('the request is passed on with unknown fields at every level, without the fields of the gateway', async () => {
    upstream.answers = [() => Response.json(MESSAGE)]
    const body = {
      max_tokens: 77,
      system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral', ttl: '1h' }, lean: 1 }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', lean: 2 }], lean: 3 }],
      tools: [{ type: 'web_search_20250305', name: 'web_search', max_uses: 2 }],
      context_management: { edits: [{ type: 'clear_tool_uses_20250919' }] },
      lean: { deep: [4] },
    }
    const response = await gateway.call(
      '/messages',
      {
        ...body,
        model: 'shared',
        session_id: 's',
        provider: { sort: 'price' },
        trace: { trace_id: 't' },
        user: 'u',
      },
      { 'anthropic-beta': 'context-management-2025-06-27' },
    )
    expect(response.status).toBe(200)
    expect(upstream.seen[0]?.path).toBe('/claude/v1/messages')
    expect(upstream.seen[0]?.body).toEqual({ ...body, model: 'claude-haiku-4-5', metadata: { user_id: 'u' } })
    expect(upstream.seen[0]?.headers.get('anthropic-beta')).toBe('context-management-2025-06-27')
    expect(upstream.seen[0]?.headers.get('x-api-key')).toBe('secret-of-claude')
    expect(upstream.seen[0]?.headers.get('authorization')).toBeNull()
  })

  test('blocks of tools that run at the provider are streamed in their place', async () => {
    upstream.answers = [messages('web-search.sse')]
    const message = await client.messages.stream(ask()).finalMessage()
    const types: string[] = message.content.map(({ type }) => type)
    expect(types).toContain('server_tool_use')
    expect(types).toContain('web_search_tool_result')
    const cited = message.content.flatMap((block) => (block.type === 'text' ? (block.citations ?? []) : []))
    expect(cited[0]).toMatchObject({ type: 'web_search_result_location', url: 'https://tides.example/today' })
    expect(message.usage.server_tool_use).toMatchObject({ web_search_requests: 1 })
    expect(gateway.generations().at(-1)).toMatchObject({ streamed: 1, native_finish_reason: 'end_turn' })
  })

  test('a stream that breaks off ends with an error event', async () => {
    upstream.answers = [messages('overloaded.sse')]
    const broken = client.messages.stream(ask()).finalMessage()
    await expect(broken).rejects.toMatchObject({
      error: { type: 'error', error: { type: 'overloaded_error', error_type: 'provider_overloaded' } },
    })
    expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error' })
  })

  test('routing metadata is in the message, and in message_stop of a stream', async () => {
    upstream.answers = [() => Response.json(MESSAGE), messages('text.sse')]
    const headers = { 'x-service-metadata': 'enabled' }
    expect(await client.messages.create(ask(), { headers })).toMatchObject({
      service_metadata: { requested: 'lamps', attempt: 1 },
    })
    const ends: unknown[] = []
    for await (const event of client.messages.stream(ask(), { headers })) {
      if (event.type === 'message_stop') ends.push(event)
    }
    expect(ends).toMatchObject([{ openrouter_metadata: { requested: 'lamps' } }])
  })
})
