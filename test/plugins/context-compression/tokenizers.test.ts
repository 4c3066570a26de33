import { afterAll, describe, expect, test } from 'bun:test'
import { encodingOf } from '../../../src/plugins/context-compression/encodings.ts'
import { createTokenPool } from '../../../src/plugins/context-compression/token-pool.ts'
import { gatewayOfFile } from '../../file-setup.ts'
import { startUpstream, unary } from '../../upstream.ts'
import { pipelineIn } from '../callers.ts'

const upstream = startUpstream()
const gateway = await gatewayOfFile(
  {
    providers: [
      {
        slug: 'lab',
        dialect: 'chat',
        base_url: upstream.baseUrl,
        models: ['openai/gpt-4', 'other'].map((id) => ({
          id,
          context_length: 1_000,
          pricing: { prompt: '0', completion: '0' },
        })),
      },
    ],
  },
  upstream,
)
const pool = createTokenPool()
afterAll(() => pool.close())

test.each([
  ['openai/gpt-4o-mini', 'o200k_base'],
  ['openai/gpt-4.1', 'o200k_base'],
  ['openai/gpt-5.1-codex', 'o200k_base'],
  ['openai/gpt-oss-120b', 'o200k_base'],
  ['openai/o3', 'o200k_base'],
  ['openai/gpt-4', 'cl100k_base'],
  ['openai/gpt-4-turbo', 'cl100k_base'],
  ['openai/gpt-3.5-turbo-0613', 'cl100k_base'],
  ['anthropic/claude-3-haiku', null],
  ['team/my-gpt-4', null],
] as const)('%s has the vocabulary %s', (model, encoding) => {
  expect(encodingOf(model)).toBe(encoding)
})

describe('a vocabulary', () => {
  const count = (encoding: 'o200k_base' | 'cl100k_base', texts: string[]) =>
    pool.run({ encoding, texts }, new AbortController().signal)

  test('counts as the vendor does, in texts with names of special tokens, too', async () => {
    const texts = ['hello world', '<|endoftext|>', 'こんにちは、世界', '']
    expect(await count('o200k_base', texts)).toEqual([2, 7, 3, 0])
    expect(await count('cl100k_base', texts)).toEqual([2, 7, 5, 0])
  })

  test('counts long words in pieces', async () => {
    expect(await count('cl100k_base', ['a'.repeat(100_000)])).toEqual([12_500])
  })
})

describe('a conversation with a model', () => {
  const messages = Array.from({ length: 9 }, (_, i) => ({
    role: i % 2 ? 'assistant' : 'user',
    content: `${i}: ${'internationalization '.repeat(28)}`,
  }))
  const shortenedBy = async (model: string, count: number) => {
    upstream.on(model, unary('Hi'))
    const body = { model, messages: messages.slice(0, count), max_tokens: 100 }
    const response = await gateway.call('/chat/completions', body, { 'x-service-metadata': 'enabled' })
    return pipelineIn(await response.json()).map(({ data }) => data)
  }

  test('of a known vocabulary is shortened by exact counts, and stays whole if it fits by them', async () => {
    // Each message has 61 tokens and is estimated at 175.
    expect(await shortenedBy('openai/gpt-4', 9)).toEqual([])
    expect(await shortenedBy('other', 9)).toMatchObject([{ tokenizer: 'estimate', fits: true }])
  })

  test('that is too long by exact counts says so', async () => {
    const long = messages.map(({ role, content }) => ({ role, content: content.repeat(3) }))
    upstream.on('openai/gpt-4', unary('Hi'))
    const body = { model: 'openai/gpt-4', messages: long, max_tokens: 100 }
    const response = await gateway.call('/chat/completions', body, { 'x-service-metadata': 'enabled' })
    expect(pipelineIn(await response.json())).toMatchObject([
      { data: { tokenizer: 'cl100k_base', fits: true } },
    ])
  })
})
