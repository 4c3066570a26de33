import { beforeEach, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { assemble } from '../chat-stream.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { forgetFailures } from '../gateway.ts'
import { FIXTURES } from '../recordings.ts'
import { type Answer, dataLines, startUpstream, unary } from '../upstream.ts'
import { ask, fixturesOf } from './replies.ts'
import { REASONING, REPLAYED, RESULTS, tools } from './responses-upstream-turn.ts'

/** A provider of OpenAI's Responses API behind POST /chat/completions and POST /responses. */

const upstream = startUpstream()
const pricing = {
  prompt: '0.000001',
  completion: '0.000002',
  input_cache_read: '0.0000001',
  input_cache_write: '0.00000125',
}
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'responses',
        base_url: upstream.baseUrl,
        api_key: 'secret-of-lab',
        models: ['tides', 'cached', 'cut', 'broken', 'wrong-key', 'prompt', 'drawn', 'unverified'].map(
          (id) => ({
            id,
            max_completion_tokens: 9000,
            pricing,
          }),
        ),
      },
      {
        slug: 'duo',
        dialect: ['chat', 'responses'],
        base_url: upstream.baseUrl,
        models: [{ id: 'both', pricing }],
      },
    ],
  },
  upstream,
)
gateway.deps.run.wait = async () => undefined
beforeEach(() => {
  upstream.seen.length = 0
})

const fixture = fixturesOf('responses')
describe('a caller of chat completions', () => {
  test('continues a streamed turn with tools and reasoning', async () => {
    upstream.inTurn('tides', [fixture('thinking-tools.sse'), fixture('text.sse')])
    const asked = ask('tides', { stream: true, tools, reasoning: { effort: 'high' }, max_tokens: 900 })
    const first = await assemble(await gateway.call('/chat/completions', asked))
    expect(upstream.seen[0]?.path).toBe('/v1/responses')
    expect(upstream.seen[0]?.headers.get('authorization')).toBe('Bearer secret-of-lab')
    expect(upstream.seen[0]?.body).toMatchObject({
      model: 'tides',
      stream: true,
      store: false,
      max_output_tokens: 900,
      reasoning: { effort: 'high', summary: 'auto' },
      include: ['reasoning.encrypted_content'],
    })
    expect(first.isDone).toBe(true)
    expect(first.finish).toMatchObject({ finish_reason: 'tool_calls', native_finish_reason: 'completed' })
    expect(first.last.usage).toMatchObject({
      prompt_tokens: 60,
      completion_tokens: 44,
      prompt_tokens_details: { cached_tokens: 32, cache_write_tokens: 16 },
      completion_tokens_details: { reasoning_tokens: 20 },
    })
    expect(first.message.reasoning).toBe('Two tides, so two calls.')

    const second = await assemble(
      await gateway.call('/chat/completions', {
        ...asked,
        messages: [...asked.messages, first.message, ...RESULTS],
      }),
    )
    expect(second.message.content).toBe('Grüße vom Deich 🌊, es "ist" Flut\\.')
    expect(upstream.seen[1]?.body['input']).toEqual(REPLAYED)
  })

  test('continues the same turn after a complete answer', async () => {
    upstream.inTurn('tides', [fixture('thinking-tools.json'), fixture('thinking-tools.json')])
    const asked = ask('tides', { tools, reasoning: { max_tokens: 2000 } })
    const reply = await (await gateway.call('/chat/completions', asked)).json()
    const [{ message, finish_reason }] = reply.choices
    expect(finish_reason).toBe('tool_calls')
    expect(message.reasoning).toBe('Two tides, so two calls.')
    const messages = [...asked.messages, message, ...RESULTS]
    expect((await gateway.call('/chat/completions', { ...asked, messages })).status).toBe(200)
    expect(upstream.seen[1]?.body['input']).toEqual(REPLAYED)
    expect(upstream.seen[1]?.body['reasoning']).toEqual({ effort: 'medium', summary: 'auto' })
  })

  describe('before an account without summaries of thoughts', () => {
    const unverified: Answer = ({ body }) =>
      Object(body['reasoning']).summary === undefined
        ? fixture('thinking-tools.json')()
        : Response.json(
            {
              error: {
                message: 'Your organization must be verified to generate reasoning summaries.',
                type: 'invalid_request_error',
                param: 'reasoning.summary',
                code: 'unsupported_value',
              },
            },
            { status: 400 },
          )
    const asking = (reasoning: object) =>
      gateway.call('/chat/completions', ask('unverified', { tools, reasoning }), {
        'x-service-metadata': 'enabled',
      })

    test('one that the caller did not name is dropped, and reported', async () => {
      upstream.on('unverified', unverified)
      const reply = await asking({ effort: 'high' })
      expect(reply.status).toBe(200)
      expect(upstream.seen.map(({ body }) => body['reasoning'])).toEqual([
        { effort: 'high', summary: 'auto' },
        { effort: 'high' },
      ])
      const { service_metadata } = await reply.json()
      expect(service_metadata.params.dropped_parameters).toContain('reasoning.summary')
      expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'tool_calls' })
    })

    test('one that the caller named is refused, as the provider refuses it', async () => {
      upstream.on('unverified', unverified)
      const reply = await asking({ effort: 'high', summary: 'auto' })
      expect(reply.status).toBe(400)
      expect((await reply.json()).error.message).toContain('must be verified')
      expect(upstream.seen).toHaveLength(1)
    })
  })

  test('gets usage with cached tokens, which have their own price', async () => {
    upstream.on('cached', fixture('thinking-tools.json'))
    const { usage } = await (await gateway.call('/chat/completions', ask('cached'))).json()
    // 12 fresh, 32 read at a tenth, 16 written at five quarters, 44 out at the double.
    expect(usage.cost).toBe(0.0001232)
    expect(gateway.generations().at(-1)).toMatchObject({
      cost_nano_usd: 123_200,
      native_finish_reason: 'completed',
    })
  })

  test('gets pictures, and the reason of a truncated answer', async () => {
    upstream.on('drawn', fixture('image.sse'))
    const lines = await dataLines(await gateway.call('/chat/completions', ask('drawn', { stream: true })))
    const images = lines
      .slice(0, -1)
      .flatMap((line) => JSON.parse(line).choices)
      .flatMap(({ delta }) => delta.images ?? [])
    expect(images).toHaveLength(1)
    expect(images[0].image_url.url).toStartWith('data:image/png;base64,iVBOR')
    upstream.on('cut', fixture('incomplete.sse'))
    const cut = await assemble(await gateway.call('/chat/completions', ask('cut', { stream: true })))
    expect(cut.finish).toMatchObject({
      finish_reason: 'length',
      native_finish_reason: 'max_output_tokens',
    })
    expect(cut.isDone).toBe(true)
  })

  test('gets the names of parameters that the provider does not know', async () => {
    upstream.on('cached', fixture('thinking-tools.json'))
    const asked = ask('cached', { seed: 7, stop: 'x' })
    const response = await gateway.call('/chat/completions', asked, { 'x-service-metadata': 'enabled' })
    const { service_metadata } = await response.json()
    expect(JSON.stringify(service_metadata)).toContain('"seed"')
    expect(JSON.stringify(service_metadata)).toContain('"stop"')
  })

  test('gets no finish from an answer that fails', async () => {
    upstream.on('broken', fixture('failed.sse'))
    const lines = await dataLines(await gateway.call('/chat/completions', ask('broken', { stream: true })))
    expect(lines.at(-1)).not.toBe('[DONE]')
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      choices: [{ finish_reason: 'error' }],
      error: { code: 429 },
    })
    expect(gateway.generations().at(-1)).toMatchObject({ finish_reason: 'error' })
  })

  test('gets a 502 for a wrong credential, and a 400 for a prompt against the rules', async () => {
    const refused = JSON.parse(await Bun.file(join(FIXTURES, 'responses', '401.http.json')).text())
      .interactions[0]
    upstream.on('wrong-key', () => new Response(refused.response_text, { status: 401 }))
    const ours = await gateway.call('/chat/completions', ask('wrong-key'))
    expect(ours.status).toBe(502)
    expect(await ours.text()).not.toContain('nope')
    forgetFailures(gateway)
    upstream.on('prompt', () =>
      Response.json({
        object: 'response',
        status: 'failed',
        output: [],
        error: { code: 'invalid_prompt', message: 'Flagged.' },
      }),
    )
    const theirs = await gateway.call('/chat/completions', ask('prompt'))
    expect(theirs.status).toBe(400)
    expect((await theirs.json()).error).toMatchObject({
      message: expect.stringContaining('Flagged.'),
      metadata: { error_type: 'content_policy_violation' },
    })
  })
})

describe('a provider of several dialects', () => {
  test('is called in one of its dialects if the caller has another', async () => {
    upstream.on('both', unary('By chat.'))
    const { choices } = await (await gateway.call('/chat/completions', ask('both'))).json()
    expect(choices[0].message.content).toBe('By chat.')
    expect(upstream.seen[0]?.path).toBe('/v1/chat/completions')
  })

  test("is called in the caller's dialect, without loss", async () => {
    upstream.on('both', fixture('web-search.sse'))
    const asked = {
      model: 'both',
      input: 'Hello',
      stream: true,
      tools: [{ type: 'web_search', mood: 'calm' }],
      tomorrow: { field: true },
    }
    const reply = await (await gateway.call('/responses', asked)).text()
    expect(upstream.seen[0]?.path).toBe('/v1/responses')
    expect(upstream.seen[0]?.body).toEqual({ ...asked, store: false })
    const lines = reply.split('\n').filter((line) => line.startsWith('data: {'))
    const events = lines.map((line) => JSON.parse(line.slice(6)))
    const { response } = events.at(-1)
    expect(response.status).toBe('completed')
    expect(response.output).toMatchObject([
      { type: 'message', phase: 'commentary' },
      { type: 'web_search_call', action: { query: 'tide tables' } },
      { type: 'message', phase: 'final_answer', content: [{ annotations: [{ start_index: 0 }, {}] }] },
    ])
    expect(events.map(({ type }) => type)).toContain('response.web_search_call.searching')
  })

  test('takes its own answer back item by item', async () => {
    upstream.on('both', fixture('thinking-tools.sse'))
    const asked = { model: 'both', input: [{ role: 'user', content: 'Hello' }] }
    const { output } = await (await gateway.call('/responses', asked)).json()
    const outputs = ['call_a', 'call_b'].map((call_id) => ({
      type: 'function_call_output',
      call_id,
      output: 'done',
    }))
    const input = [...asked.input, ...output, ...outputs]
    expect((await gateway.call('/responses', { ...asked, input })).status).toBe(200)
    const sent = upstream.seen[1]?.body['input']
    expect(sent).toMatchObject([
      { role: 'user', content: 'Hello' },
      REASONING,
      { type: 'message', role: 'assistant', phase: 'commentary', content: [{ text: 'I look it up.' }] },
      { type: 'function_call', call_id: 'call_a', arguments: '{"port":"Büsum","day":1}' },
      { type: 'function_call', call_id: 'call_b', arguments: '{}' },
      ...outputs,
    ])
    // Fields of gateways alone are a 400 at OpenAI.
    expect(JSON.stringify(sent)).not.toMatch(/"format"|"signature"/)
  })
})
