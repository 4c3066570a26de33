import { beforeEach, describe, expect, test } from 'bun:test'
import { gatewayOfFile } from '../../file-setup.ts'
import { startUpstream } from '../../upstream.ts'
import { CALLERS, jsonIn, pipelineIn } from '../callers.ts'
import { providersOf, REPLIES } from '../providers.ts'

/** Compression as callers of each dialect see it, before providers of each dialect. */

const upstream = startUpstream()
const small = providersOf(upstream.baseUrl, { context_length: 2_000 })
const large = {
  slug: 'lab-large',
  dialect: 'chat',
  base_url: upstream.baseUrl,
  models: [{ id: 'large', context_length: 9_000, pricing: { prompt: '0', completion: '0' } }],
}
const gateway = await gatewayOfFile({ providers: [...small, large] }, upstream)

beforeEach(() => {
  upstream.seen.length = 0
})

/** Turns of about a hundred tokens, each with its number. */
const turns = (count: number) =>
  Array.from(
    { length: count },
    (_, i) =>
      [
        `question ${i}. ${'lorem ipsum dolor '.repeat(20)}`,
        `answer ${i}. ${'sit amet. '.repeat(20)}`,
      ] as const,
  )
const QUESTION = 'And what is the last one?'

const chatMessages = (count: number) => [
  { role: 'system', content: 'You are brief.' },
  ...turns(count).flatMap(([question, answer]) => [
    { role: 'user', content: question },
    { role: 'assistant', content: answer },
  ]),
  { role: 'user', content: QUESTION },
]

/** A conversation in the words of each dialect. */
const BODIES: Readonly<Record<string, (count: number) => Record<string, unknown>>> = {
  chat: (count) => ({ messages: chatMessages(count) }),
  responses: (count) => ({ instructions: 'You are brief.', input: chatMessages(count).slice(1) }),
  messages: (count) => ({
    max_tokens: 100,
    system: 'You are brief.',
    messages: chatMessages(count).slice(1),
  }),
  gemini: (count) => ({
    systemInstruction: { parts: [{ text: 'You are brief.' }] },
    contents: chatMessages(count)
      .slice(1)
      .map(({ role, content }) => ({ role: role === 'user' ? 'user' : 'model', parts: [{ text: content }] })),
  }),
}

async function send(
  dialect: string,
  model: string,
  {
    stream = false,
    count = 40,
    more = {},
  }: { stream?: boolean; count?: number; more?: Record<string, unknown> } = {},
) {
  const caller = CALLERS.find((each) => each.dialect === dialect)
  if (!caller) throw new Error(dialect)
  for (const name of [model, 'undefined'])
    upstream.on(name, REPLIES[model === 'large' ? 'chat' : model]!(['Hi'], stream))
  const { path, body } = caller.ask(model, '', stream)
  const { messages, input, contents, ...rest } = body
  const response = await gateway.call(
    path,
    { ...rest, ...BODIES[dialect]!(count), ...more },
    { 'x-service-metadata': 'enabled' },
  )
  const raw = await response.text()
  const json = jsonIn(raw)
  return {
    status: response.status,
    raw,
    text: caller.textOf(json),
    pipeline: pipelineIn(json),
    sent: JSON.stringify(upstream.seen.at(-1)?.body),
  }
}

const combinations = CALLERS.flatMap(({ dialect }) =>
  Object.keys(REPLIES).flatMap((model) => [false, true].map((stream) => ({ dialect, model, stream }))),
)

test.each(combinations)(
  '$dialect caller, $model provider, stream $stream: sent is what fits',
  async ({ dialect, model, stream }) => {
    const { status, text, pipeline, sent } = await send(dialect, model, { stream })
    expect({ status, text }).toEqual({ status: 200, text: 'Hi' })
    for (const kept of [
      'You are brief.',
      'question 0.',
      'answer 0.',
      'question 39.',
      'answer 39.',
      QUESTION,
    ]) {
      expect(sent).toContain(kept)
    }
    expect(sent).not.toContain('question 20.')
    // A token has more than three characters here.
    expect(sent.length).toBeLessThan(3 * 3_000)
    expect(pipeline).toMatchObject([
      {
        type: 'context_compression',
        name: 'context-compression',
        data: {
          engine: 'middle-out',
          context_length: 2_000,
          fits: true,
          left_out: { media: 0, characters: 0 },
        },
      },
    ])
  },
)

describe('the caller decides', () => {
  const isShort = async (
    model: string,
    more: Record<string, unknown>,
    count = 24,
  ): Promise<boolean | number> => {
    const { status, sent } = await send('chat', model, { more, count })
    return status === 200 ? !sent.includes(`question ${count / 2}.`) : status
  }

  test('for endpoints of up to 8,192 tokens the conversation is shortened unless that is disabled', async () => {
    expect(await isShort('chat', {})).toBe(true)
    expect(await isShort('chat', { transforms: [] })).toBe(false)
    expect(await isShort('chat', { plugins: [{ id: 'context-compression', enabled: false }] })).toBe(false)
  })

  test('for longer contexts it is shortened if the caller wants that', async () => {
    expect(await isShort('large', {}, 100)).toBe(false)
    expect(await isShort('large', { transforms: ['middle-out'] }, 100)).toBe(true)
    expect(await isShort('large', { plugins: [{ id: 'context-compression' }] }, 100)).toBe(true)
    expect(await isShort('large', { plugins: [{ id: 'context-compression' }] }, 30)).toBe(false)
  })

  test('a prompt that no endpoint could take is refused only if it may not be shortened', async () => {
    expect(await isShort('chat', { transforms: [] }, 400)).toBe(400)
    expect(await isShort('chat', {}, 400)).toBe(true)
    expect(await isShort('large', {}, 800)).toBe(400)
    expect(await isShort('large', { transforms: ['middle-out'] }, 800)).toBe(true)
  })

  test('of Responses, `truncation: disabled` is such a wish, too', async () => {
    const { sent } = await send('responses', 'chat', { count: 24, more: { truncation: 'disabled' } })
    expect(sent).toContain('question 12.')
  })
})

test('the room for the answer, for tools and for a schema is left', async () => {
  const kept = async (more: Record<string, unknown>): Promise<number> =>
    (await send('chat', 'chat', { more })).sent.match(/question \d/g)?.length ?? 0
  const usual = await kept({})
  expect(await kept({ max_tokens: 900 })).toBeLessThan(usual)
  const tools = [
    {
      type: 'function',
      function: { name: 'f', description: 'lorem ipsum '.repeat(150), parameters: { type: 'object' } },
    },
  ]
  expect(await kept({ tools })).toBeLessThan(usual)
})

test('a conversation that fits is sent as the caller wrote it', async () => {
  const { sent, pipeline } = await send('chat', 'chat', {
    count: 2,
    more: { messages: [{ role: 'user', content: 'Hi', unknown_field: 1 }] },
  })
  expect(sent).toContain('"unknown_field":1')
  expect(pipeline).toEqual([])
})

test('a fall-back to an endpoint with a longer context gets the whole conversation', async () => {
  upstream.on('chat', () => Response.json({ error: { message: 'busy' } }, { status: 503 }))
  upstream.on('large', REPLIES['chat']!(['Hi'], false))
  const body = { ...BODIES['chat']!(40), models: ['chat', 'large'] }
  const response = await gateway.call('/chat/completions', body, { 'x-service-metadata': 'enabled' })
  expect(response.status).toBe(200)
  const last = upstream.seen.at(-1)?.body
  expect(last?.['model']).toBe('large')
  expect(last?.['messages']).toEqual(chatMessages(40))
  expect(pipelineIn(await response.json())).toEqual([])
})
