/** The server tool image_generation, in the words of each dialect, with its cost and its failures. */
import { beforeEach, describe, expect, test } from 'bun:test'
import { isObject } from '../../../src/core/json.ts'
import { gatewayOfFile, openaiOf } from '../../file-setup.ts'
import { API_KEY } from '../../gateway.ts'
import { askAs, CALLERS } from '../../plugins/callers.ts'
import { type Answer, startUpstream } from '../../upstream.ts'
import { DATA_URL, PNG } from '../images/setup.ts'
import { calls, messageOf, STEP_USD, says } from './setup.ts'

const IMAGE_USD = 0.04
const pricing = { prompt: '0.000001', completion: '0.000002', request: '0' }
const paints = { architecture: { output_modalities: ['image'] }, pricing: { image: String(IMAGE_USD) } }

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [
      {
        slug: 'lab',
        name: 'Lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: [
          { id: 'tiny', pricing },
          { id: 'brush', ...paints },
          { id: 'pen', ...paints },
          { id: 'words', architecture: { output_modalities: ['text'] }, pricing },
        ],
      },
    ],
  },
  upstream,
)

const INTRO = 'Wait.'
const TEXT = 'Here it is.'
const PROMPT = 'A boat at dusk'
const draws = { name: 'image_generation', args: { prompt: PROMPT } }
const painted: Answer = () =>
  Response.json({ created: 1, data: [{ b64_json: PNG, revised_prompt: 'A small boat' }] })
const toolOf = (parameters: object = {}) => [{ type: 'openrouter:image_generation', parameters }]
const brush = { tools: toolOf({ model: 'brush', quality: 'low', size: '1024x1024' }) }
const chatOf = (more: object) => ({ model: 'tiny', messages: [{ role: 'user', content: 'Draw' }], ...more })

beforeEach(() => {
  upstream.seen.length = 0
  upstream.on('brush', painted)
  upstream.inTurn('tiny', [calls([draws], INTRO), says(TEXT)])
})

const resultOf = (at = 2): string => {
  const messages = upstream.seen[at]?.body['messages']
  const last: unknown = Array.isArray(messages) ? messages.at(-1) : null
  return isObject(last) ? String(last['content']) : ''
}

const rows = CALLERS.flatMap((caller) =>
  [false, true].map((stream) => ({ caller, stream, as: caller.dialect })),
)

test.each(rows)(
  'a caller of $as gets the image and the words, streamed: $stream',
  async ({ caller, stream }) => {
    const before = gateway.generations().length
    const { status, raw } = await askAs(gateway, caller, 'Draw', { model: 'tiny', stream, more: brush })
    expect(status, raw).toBe(200)
    expect(raw.split(PNG)).toHaveLength(caller.dialect === 'responses' && stream ? 3 : 2)
    expect(raw).toContain(TEXT)
    expect(upstream.seen.map(({ path }) => path)).toEqual([
      '/v1/chat/completions',
      '/v1/images/generations',
      '/v1/chat/completions',
    ])
    expect(upstream.seen[1]?.body).toMatchObject({ prompt: PROMPT, quality: 'low', size: '1024x1024' })
    expect(resultOf()).toContain('brush made the image, and the user sees it. It was made from: A small boat')
    expect(resultOf()).not.toContain(PNG)
    const made = gateway.generations().slice(before)
    expect(made.map(({ cost_nano_usd }) => cost_nano_usd)).toEqual([20_000, 40_000_000, 20_000])
    const [first, image] = made
    expect(image).toMatchObject({ parent_id: first?.['id'], step: '{"kind":"tool"}', model: 'brush' })
  },
)

test('chat: the image is one of the message, and its cost one of a tool', async () => {
  const { choices, usage, id } = await (await gateway.call('/chat/completions', chatOf(brush))).json()
  expect(choices[0].message).toMatchObject({
    content: `${INTRO}\n\n${TEXT}`,
    images: [{ type: 'image_url', image_url: { url: DATA_URL } }],
  })
  expect(usage.cost).toBeCloseTo(2 * STEP_USD + IMAGE_USD, 12)
  expect(usage.cost_details.server_tool_cost).toBe(IMAGE_USD)
  const { data } = await (await gateway.call(`/generation?id=${id}`)).json()
  expect(data.steps).toMatchObject([
    { kind: 'tool', model: 'brush' },
    { kind: 'tools', model: 'tiny' },
  ])
  expect(data.total_cost).toBeCloseTo(2 * STEP_USD + IMAGE_USD, 12)
})

describe('Responses', () => {
  const asked = { model: 'tiny', input: 'Draw', ...brush }
  const item = {
    type: 'image_generation_call',
    status: 'completed',
    result: PNG,
    prompt: PROMPT,
    revised_prompt: 'A small boat',
    output_format: 'png',
  }

  test('have the item that OpenAI’s client reads, and its events', async () => {
    const { responses } = openaiOf(gateway)
    const body = { model: 'tiny', input: 'Draw' }
    // The client's own types know only OpenAI's tools.
    Object.assign(body, brush)
    const stream = responses.stream(body)
    const seen: string[] = []
    for await (const { type } of stream) if (type.includes('image_generation')) seen.push(type)
    expect(seen).toEqual(
      ['in_progress', 'generating', 'completed'].map((stage) => `response.image_generation_call.${stage}`),
    )
    const { output } = await stream.finalResponse()
    expect(output).toMatchObject([{ type: 'message' }, item, { type: 'message' }])
  })

  test('are continued: the model reads its call, and not the image', async () => {
    const first = await (await gateway.call('/responses', { ...asked, store: true })).json()
    upstream.inTurn('tiny', [says('Yes.')])
    const next = { ...asked, input: 'Done?', previous_response_id: first.id }
    expect((await gateway.call('/responses', next)).status).toBe(200)
    const sent = JSON.stringify(upstream.seen.at(-1)?.body)
    expect(sent).toContain('brush made the image')
    expect(sent).toContain('A boat at dusk')
    expect(sent).not.toContain(PNG)
  })
})

test('Messages: blocks of the call and an image; sent back, the model reads them again', async () => {
  const asked = { model: 'tiny', max_tokens: 100, messages: [{ role: 'user', content: 'Draw' }], ...brush }
  const { content } = await (await gateway.call('/messages', asked)).json()
  expect(content).toMatchObject([
    { type: 'text', text: INTRO },
    { type: 'server_tool_use', name: 'image_generation', input: { prompt: PROMPT } },
    { type: 'image_generation_tool_result', content: [{ type: 'text' }] },
    { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PNG } },
    { type: 'text', text: TEXT },
  ])
  upstream.inTurn('tiny', [says('Yes.')])
  const messages = [...asked.messages, { role: 'assistant', content }, { role: 'user', content: 'Done?' }]
  const again = await gateway.call('/messages', { ...asked, messages })
  expect(again.status, await again.text()).toBe(200)
  const sent = JSON.stringify(upstream.seen.at(-1)?.body)
  expect(sent).toContain('brush made the image')
  expect(sent).not.toContain(PNG)
})

describe('a call that fails is one for the model, and free', () => {
  test.each([
    ['the provider has an error of its own', () => new Response('', { status: 500 }), 'error of its own'],
    ['its rate limit', () => new Response('', { status: 429 }), 'rate limit is reached'],
    [
      'it refuses the prompt',
      () => Response.json({ error: { message: 'not this boat' } }, { status: 400 }),
      'not this boat',
    ],
    ['it answers without an image', () => Response.json({ created: 1, data: [] }), 'no completion'],
  ] as const)('%s', async (_, answer, sentence) => {
    upstream.on('brush', answer)
    const response = await gateway.call('/chat/completions', chatOf(brush))
    const { choices, usage } = await response.json()
    expect(choices[0].message.content).toBe(`${INTRO}\n\n${TEXT}`)
    expect(choices[0].message.images).toBeUndefined()
    expect(resultOf(upstream.seen.length - 1)).toContain(sentence)
    expect(usage.cost).toBeCloseTo(2 * STEP_USD, 12)
    expect(gateway.deps.ledger.heldNanoUsd()).toBe(0)
  })

  test('one of two: the other is shown', async () => {
    const other = { name: 'image_generation', args: { prompt: 'A bad boat' }, id: 'b' }
    upstream.inTurn('tiny', [calls([{ ...draws, id: 'a' }, other]), says(TEXT)])
    upstream.on('brush', (seen, request) =>
      seen.body['prompt'] === PROMPT ? painted(seen, request) : new Response('', { status: 400 }),
    )
    const { choices, usage } = await (await gateway.call('/chat/completions', chatOf(brush))).json()
    expect(choices[0].message.images).toHaveLength(1)
    expect(usage.cost).toBeCloseTo(2 * STEP_USD + IMAGE_USD, 12)
  })

  test('more than max_uses', async () => {
    const other = { name: 'image_generation', args: { prompt: 'Another' }, id: 'b' }
    upstream.inTurn('tiny', [calls([{ ...draws, id: 'a' }, other]), says(TEXT)])
    const tools = toolOf({ model: 'brush', max_uses: 1 })
    const { choices } = await (await gateway.call('/chat/completions', chatOf({ tools }))).json()
    expect(choices[0].message.images).toHaveLength(1)
    expect(resultOf()).toContain('no more than 1 images')
  })
})

test('a limit of the key refuses the image before it is made, and ends the request', async () => {
  const { key } = await gateway.makeKey({ limit: 0.03, limit_reset: 'daily' })
  const response = await gateway.call('/chat/completions', chatOf(brush), { authorization: `Bearer ${key}` })
  expect(response.status).toBe(402)
  expect(upstream.seen).toHaveLength(1)
})

describe('the model', () => {
  const refusal = async (parameters: object) => {
    const response = await gateway.call('/chat/completions', chatOf({ tools: toolOf(parameters) }))
    return [response.status, await messageOf(response)]
  }
  const AT = 'tools[0].parameters'

  test('and the options are checked before anything is sent', async () => {
    for (const [parameters, sentence] of [
      [{}, `${AT}.model: is required: this workspace has no default image model`],
      [{ model: 'nothing' }, `${AT}.model: "nothing" is not a model of this gateway`],
      [{ model: 'words' }, `${AT}.model: "words" makes no images`],
      [{ model: 'brush', size: 'big' }, `${AT}.size: must be WIDTHxHEIGHT`],
      [{ model: 'brush', quality: 'best' }, `${AT}.quality: must be one of auto, low`],
      [
        { model: 'brush', style: 'vivid' },
        `${AT}.style: is not a parameter of this tool; it has model, size`,
      ],
    ] as const) {
      const [status, message] = await refusal(parameters)
      expect(status).toBe(400)
      expect(message).toContain(sentence)
    }
    expect(upstream.seen).toHaveLength(0)
  })

  test('without a name is that of the workspace', async () => {
    upstream.on('pen', painted)
    const patched = await gateway.manage('PATCH', '/workspaces/default', { default_image_model: 'pen' })
    expect(patched.status).toBe(200)
    const { choices } = await (await gateway.call('/chat/completions', chatOf({ tools: toolOf() }))).json()
    expect(choices[0].message.images).toHaveLength(1)
    expect(upstream.seen[1]?.body['model']).toBe('pen')
  })
})

test('a disconnect while an image is made ends it, and every step is on the ledger', async () => {
  const seen = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  upstream.on('brush', async (entry, request) => {
    seen.resolve()
    await released.promise
    return painted(entry, request)
  })
  const leaving = new AbortController()
  const before = gateway.generations().length
  const asked = fetch(`${gateway.url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(chatOf(brush)),
    signal: leaving.signal,
  }).catch(() => null)
  await seen.promise
  leaving.abort()
  await asked
  while (gateway.deps.ledger.heldNanoUsd() > 0) await new Promise(setImmediate)
  released.resolve()
  expect(gateway.generations().slice(before)).toMatchObject([
    { model: 'tiny', finish_reason: 'tool_calls' },
    { model: 'brush', cancelled: 1 },
  ])
})

describe('content filters see the prompt that the model wrote', () => {
  async function guarded(action: string) {
    const { key } = await gateway.makeGuardedKey({ content_filters: [{ pattern: 'dusk', action }] })
    const response = await gateway.call('/chat/completions', chatOf(brush), {
      authorization: `Bearer ${key}`,
    })
    expect(response.status).toBe(200)
    return upstream.seen.filter(({ path }) => path === '/v1/images/generations')
  }

  test('what they redact is not sent, and the image’s record says so', async () => {
    const drawn = await guarded('redact')
    expect(drawn.map(({ body }) => String(body['prompt']))).toEqual([expect.stringContaining('A boat at [')])
    const [image] = gateway
      .generations()
      .filter(({ model }) => model === 'brush')
      .slice(-1)
    expect(String(image?.['guardrails'])).toContain('"action":"redact"')
  })

  test('what they block makes no image, and the model is told', async () => {
    expect(await guarded('block')).toEqual([])
    expect(resultOf(1)).toContain('its prompt was withheld by the content filters of a guardrail')
  })
})
