import { describe, expect, test } from 'bun:test'
import { APIError } from 'openai'
import { checkStream } from '../../dialects/responses/stream-order.ts'
import { chunk, DONE, sse, usageChunk } from '../../upstream.ts'
import { DIALECTS, startForResponses } from './setup.ts'

/** POST /responses: schemas, dropped parameters and failures. */

const { upstream, gateway, client } = await startForResponses()

test('a schema for the answer is sent in the dialect of the provider', async () => {
  const unary = {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'lamps',
    choices: [{ index: 0, message: { role: 'assistant', content: '{"on":true}' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
  }
  upstream.answers = [() => Response.json(unary)]
  const schema = {
    type: 'object',
    properties: { on: { type: 'boolean' } },
    required: ['on'],
    additionalProperties: false,
  }
  const response = await client.responses.parse({
    model: 'chat-lamps',
    input: 'On?',
    text: { format: { type: 'json_schema', name: 'lamp', schema, strict: true } },
  })
  expect(response.output_text).toBe('{"on":true}')
  expect(upstream.seen[0]?.body['response_format']).toEqual({
    type: 'json_schema',
    json_schema: { name: 'lamp', schema, strict: true },
  })
  expect(response.text).toMatchObject({ format: { type: 'json_schema', name: 'lamp' } })
})

test('parameters that another dialect does not know are named in the metadata', async () => {
  upstream.answers = [() => sse([chunk({ content: 'Hi' }), chunk({}, 'stop'), usageChunk(), DONE])]
  const body = {
    model: 'chat-lamps',
    input: [
      { role: 'user', content: 'x' },
      { type: 'web_search_call', id: 'ws', status: 'completed' },
    ],
    tools: [{ type: 'web_search' }],
    truncation: 'auto',
    new_field: 1,
  }
  const reply = await gateway.call('/responses', body, { 'x-service-metadata': 'enabled' })
  const { service_metadata } = await reply.json()
  expect(service_metadata.params.dropped_parameters.toSorted()).toEqual([
    'content.web_search_call',
    'new_field',
    'tools.web_search',
    'truncation',
  ])
})

describe('failures', () => {
  test.each(DIALECTS)(
    'a refusal before the stream keeps its status, at a provider of %s',
    async (dialect) => {
      upstream.answers = [
        () =>
          Response.json(
            { error: { message: 'too long a prompt', type: 'invalid_request_error', code: 'x' } },
            { status: 400 },
          ),
      ]
      const failure = await client.responses
        .create({ model: `${dialect}-refused`, input: 'x', stream: true })
        .then(
          () => null,
          (error: unknown) => error,
        )
      if (!(failure instanceof APIError)) throw new Error('it was not refused')
      expect([failure.status, failure.message]).toEqual([400, expect.stringContaining('too long a prompt')])
    },
  )

  test('a stream that breaks off ends with response.failed and [DONE]', async () => {
    upstream.answers = [() => sse([chunk({ role: 'assistant', content: 'Hal' })])]
    const reply = await gateway.call('/responses', { model: 'chat-broken', input: 'x', stream: true })
    expect(reply.status).toBe(200)
    const { ending, response } = checkStream(await reply.text())
    expect(ending).toBe('failed')
    expect(response).toMatchObject({
      output_text: 'Hal',
      error: { code: 'server_error', message: 'Lab chat ended the answer before it was complete' },
      error_type: 'provider_unavailable',
    })
    expect(gateway.generations().at(-1)).toMatchObject({
      finish_reason: 'error',
      cancelled: 0,
      api_type: 'responses',
    })
  })

  test('an invalid image is a 400 that names its place', async () => {
    const reply = await gateway.call('/responses', {
      model: 'chat-lamps',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'data:image/png;base64,aGk=' }] }],
    })
    expect(reply.status).toBe(400)
    expect((await reply.json()).error).toMatchObject({
      code: 400,
      message: expect.stringMatching(/^input\[0\]\.content\[0\]\.image_url: /),
    })
    expect(upstream.seen).toHaveLength(0)
  })

  test('an image URL of a private network is refused by its place', async () => {
    const reply = await gateway.call('/responses', {
      model: 'chat-lamps',
      input: [{ role: 'user', content: [{ type: 'input_image', image_url: 'http://169.254.1.1/x.png' }] }],
    })
    expect(reply.status).toBe(400)
    expect((await reply.json()).error.message).toContain('input[0].content[0].image_url')
  })

  test('a request without a key is a 401, and with a management key a 403', async () => {
    expect((await gateway.call('/responses', { input: 'x' }, { authorization: 'none' })).status).toBe(401)
    expect((await gateway.manage('POST', '/responses', { input: 'x' })).status).toBe(403)
  })
})
