/** Chat streams that the provider truncates: clients have to report an error, and ask once. */
import { beforeEach, expect, test } from 'bun:test'
import { createOpenAI } from '@ai-sdk/openai'
import { createOpenRouter } from '@openrouter/ai-sdk-provider'
import { OpenRouter } from '@openrouter/sdk'
import { streamText } from 'ai'
import OpenAI from 'openai'
import { gatewayOfFile } from '../file-setup.ts'
import { API_KEY } from '../gateway.ts'
import { chunk, sse, startUpstream } from '../upstream.ts'

const MODEL = 'cut'
const BEGINNING = 'This answer has a beginning'
const HI = [{ role: 'user' as const, content: 'Hello' }]

const upstream = startUpstream()
const pricing = { prompt: '0.000001', completion: '0.000002' }
const models = [{ id: MODEL, pricing }]
const gateway = await gatewayOfFile(
  {
    listens: true,
    providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }],
  },
  upstream,
)
upstream.on(MODEL, () => sse([chunk({ role: 'assistant', content: BEGINNING })]))
beforeEach(() => {
  upstream.seen.length = 0
})

const baseURL = (): string => `${gateway.url}/api/v1`

/** Reads a stream as an application would; resolves with the text, and rejects with what the client reported. */
const CLIENTS: readonly (readonly [string, (add: (text: string) => void) => Promise<void>])[] = [
  [
    'openai',
    async (add) => {
      const client = new OpenAI({ baseURL: baseURL(), apiKey: API_KEY })
      const stream = await client.chat.completions.create({ model: MODEL, messages: HI, stream: true })
      for await (const { choices } of stream) add(choices[0]?.delta.content ?? '')
    },
  ],
  [
    'the AI SDK, openai.chat',
    async (add) => readText(createOpenAI({ baseURL: baseURL(), apiKey: API_KEY }).chat(MODEL), add),
  ],
  [
    'the AI SDK, openrouter',
    async (add) => readText(createOpenRouter({ baseURL: baseURL(), apiKey: API_KEY }).chat(MODEL), add),
  ],
  [
    'OpenRouter SDK',
    async (add) => {
      const client = new OpenRouter({ serverURL: baseURL(), apiKey: API_KEY })
      const errors: string[] = []
      const stream = await client.chat.send({ chatRequest: { model: MODEL, messages: HI, stream: true } })
      if (!(stream instanceof ReadableStream)) throw new Error('no stream came')
      for await (const { choices, error } of stream) {
        if (error) errors.push(error.message)
        add(choices[0]?.delta.content ?? '')
      }
      if (errors.length > 0) throw new Error(errors[0])
    },
  ],
]

async function readText(
  model: Parameters<typeof streamText>[0]['model'],
  add: (text: string) => void,
): Promise<void> {
  const errors: unknown[] = []
  const result = streamText({ model, prompt: 'Hello', onError: ({ error }) => void errors.push(error) })
  for await (const text of result.textStream) add(text)
  if (errors.length > 0) throw errors[0]
}

test.each(CLIENTS)('%s reports an error after the text, and asks once', async (_, read) => {
  let text = ''
  const reading = read((piece) => {
    text += piece
  })
  expect(reading).rejects.toThrow('ended the answer before it was complete')
  await reading.catch(() => undefined)
  expect(text).toBe(BEGINNING)
  expect(upstream.seen.length).toBe(1)
})

test('a client that reconnects with the id of the failure is refused, and nothing is called or charged', async () => {
  const body = { model: MODEL, messages: HI, stream: true }
  const stream = await (await gateway.call('/chat/completions', body)).text()
  const [, id = ''] = /^id: (.+)$/m.exec(stream) ?? []
  const rows = gateway.generations().length
  const reply = await gateway.call('/chat/completions', body, { 'last-event-id': id })
  expect(reply.status).toBe(400)
  const { error } = await reply.json()
  const last = JSON.parse(stream.trimEnd().split('\n\n').at(-1)?.slice('data: '.length) ?? '')
  expect(error.message).toContain(`${last.error.code}: ${last.error.message}`)
  expect(stream).not.toContain('[DONE]')
  expect(last.choices).toMatchObject([{ finish_reason: 'error' }])
  expect(upstream.seen.length).toBe(1)
  expect(gateway.generations().length).toBe(rows)
})

/** The `User-Agent` of libraries whose requests OpenAI's own client sends. */
test.each([
  ['langchainjs-openai/1.0.0 ((node/v20.20.2; linux; x64))', true],
  ['agent-framework-python/1.23.0', true],
  ['OpenAI/JS 7.57.0', false],
])('a failed response before %s: an `error` of the event: %p', async (agent, isThrown) => {
  const defaultHeaders = { 'user-agent': agent }
  const client = new OpenAI({ baseURL: baseURL(), apiKey: API_KEY, defaultHeaders })
  const types: string[] = []
  const read = async () => {
    for await (const { type } of await client.responses.create({ model: MODEL, input: 'Hi', stream: true }))
      types.push(type)
  }
  if (isThrown) await expect(read()).rejects.toThrow('ended the answer')
  else await read()
  expect(types).toContain('response.output_text.delta')
  expect(types.at(-1) === 'response.failed').toBe(!isThrown)
  expect(upstream.seen).toHaveLength(1)
})
