import { describe, expect, test } from 'bun:test'
import {
  dialectOf,
  inputOf,
  outputOf,
  parametersOf,
  reasoningOf,
} from '../../src/catalog/facts/capabilities.ts'
import { composeSeed } from '../../src/catalog/facts/compose.ts'
import type { FactModel } from '../../src/catalog/facts/document.ts'
import { createIdentities, type Identities, partsOf } from '../../src/catalog/facts/identity.ts'
import type { ListedModel } from '../../src/catalog/facts/listed.ts'
import { fact } from './fact.ts'

const listing = (id: string, canonicalSlug: string, huggingFaceId: string | null = null): ListedModel => ({
  id,
  canonicalSlug,
  name: id,
  huggingFaceId,
  tokenizer: null,
  instructType: null,
  parameters: [],
  webSearch: null,
})

describe('identity', () => {
  test.each<[upstreamId: string, author: string, bare: string, variant: string, quantization: string | null]>(
    [
      ['gpt-4o', 'openai', 'gpt-4o', '', null],
      ['meta-llama/Llama-3.3-70B-Instruct', 'meta-llama', 'llama-3.3-70b-instruct', '', null],
      ['meta/llama-3_3-70b-instruct', 'meta-llama', 'llama-3.3-70b-instruct', '', null],
      ['zai-org/GLM-5.1-FP8', 'z-ai', 'glm-5.1', '', 'fp8'],
      ['accounts/fireworks/models/glm-5p1', 'z-ai', 'glm-5.1', '', null],
      ['@cf/meta/llama-3.1-8b-instruct-fp8', 'meta-llama', 'llama-3.1-8b-instruct', '', 'fp8'],
      ['hf:moonshotai/Kimi-K2.6', 'moonshotai', 'kimi-k2.6', '', null],
      ['moonshotai/chat-completion/models/Kimi-K2_6', 'moonshotai', 'kimi-k2.6', '', null],
      ['gpt-oss:120b', 'openai', 'gpt-oss-120b', '', null],
      ['qwen/qwen3-coder:free', 'qwen', 'qwen3-coder', ':free', null],
      ['databricks-claude-opus-4-1', 'anthropic', 'claude-opus-4-1', '', null],
      ['moonshotai/Kimi-K2.5-TEE', 'moonshotai', 'kimi-k2.5', '', null],
      ['in-house-thing', 'fallback', 'in-house-thing', '', null],
    ],
  )('%s', (upstreamId, author, bare, variant, quantization) => {
    expect(partsOf(upstreamId, 'fallback')).toEqual({ author, bare, variant, quantization })
  })

  const identities = (): Identities =>
    createIdentities([
      listing('qwen/qwen3-coder', 'qwen/qwen3-coder-480b-a35b-07-25', 'Qwen/Qwen3-Coder-480B-A35B-Instruct'),
      listing(
        'qwen/qwen3-coder:free',
        'qwen/qwen3-coder-480b-a35b-07-25',
        'Qwen/Qwen3-Coder-480B-A35B-Instruct',
      ),
      listing('anthropic/claude-sonnet-4.5', 'anthropic/claude-4.5-sonnet-20250929'),
      listing('moonshotai/kimi-k2.7-code', 'moonshotai/kimi-k2.7-code-20260601'),
    ])

  test.each<[upstreamId: string, expected: string]>([
    ['Qwen/Qwen3-Coder-480B-A35B-Instruct', 'qwen/qwen3-coder'],
    ['qwen3-coder-480b-a35b-instruct', 'qwen/qwen3-coder'],
    ['qwen/qwen3-coder:free', 'qwen/qwen3-coder:free'],
    ['claude-sonnet-4-5', 'anthropic/claude-sonnet-4.5'],
    ['claude-4-5-sonnet', 'anthropic/claude-sonnet-4.5'],
    ['claude-sonnet-4-5-20250929', 'anthropic/claude-sonnet-4-5-20250929'],
    ['llama-3.3-70b-versatile', 'meta-llama/llama-3.3-70b-instruct'],
  ])('%s is %s', (upstreamId, expected) =>
    expect(identities().idOf(fact(upstreamId), 'somebody')).toBe(expected),
  )

  test('a base model in the facts joins the same model, not siblings', () => {
    const base = 'moonshotai/kimi-k2.7-code'
    expect(identities().idOf(fact('kimi-k2.7-code-tee', { baseModel: base }), 'x')).toBe(base)
    expect(identities().idOf(fact('moonshotai/K2.7-Code-Instruct', { baseModel: base }), 'x')).toBe(base)
    expect(identities().idOf(fact('kimi-k2.7-code-highspeed', { baseModel: base }), 'x')).toBe(
      `${base}-highspeed`,
    )
  })

  test('an unlisted model has the same id at its second provider', () => {
    const known = identities()
    expect(known.idOf(fact('acme/Rocket-2.0'), 'one')).toBe('acme/rocket-2.0')
    expect(known.idOf(fact('acme/rocket-2-0'), 'two')).toBe('acme/rocket-2.0')
  })
})

describe('capabilities', () => {
  test('pdf is a file; embeddings, reranking and speech are recognized by name', () => {
    expect(inputOf(fact('a', { input: ['text', 'pdf', 'image'] }))).toEqual(['text', 'file', 'image'])
    expect(outputOf(fact('text-embedding-3-small'))).toEqual(['embeddings'])
    expect(outputOf(fact('BAAI/bge-m3'))).toEqual(['embeddings'])
    expect(outputOf(fact('rerank-v3.5'))).toEqual(['rerank'])
    expect(outputOf(fact('whisper-large-v3'))).toEqual(['transcription'])
    expect(outputOf(fact('gemini-2.5-flash-preview-tts'))).toEqual(['speech'])
    expect(outputOf(fact('gpt-5', { output: ['text', 'image'] }))).toEqual(['text', 'image'])
  })

  test('parameters are those listed, without those that the endpoint lacks', () => {
    const listed = ['max_tokens', 'seed', 'tools', 'tool_choice']
    expect(parametersOf(fact('a', { callsTools: true }), listed)).toEqual([
      'max_tokens',
      'seed',
      'tool_choice',
      'tools',
    ])
    expect(parametersOf(fact('a'), listed)).toEqual(['max_tokens', 'seed'])
    expect(parametersOf(fact('a', { reasoning: true, structuredOutput: true }), listed)).toEqual([
      'include_reasoning',
      'max_tokens',
      'reasoning',
      'seed',
      'structured_outputs',
    ])
  })

  test('unknown parameters of an unlisted model are supported', () => {
    const open = parametersOf(fact('a', { callsTools: true }), undefined)
    for (const name of ['logprobs', 'top_k', 'seed', 'stop', 'temperature']) expect(open).toContain(name)
    const closed = parametersOf(fact('a', { takesTemperature: false, structuredOutput: false }), undefined)
    for (const name of ['temperature', 'top_p', 'tools', 'structured_outputs', 'reasoning'])
      expect(closed).not.toContain(name)
  })

  test.each<[id: string, facts: Partial<FactModel>, mandatory: boolean]>([
    ['claude-sonnet-4-5', { takesReasoningBudget: true }, false],
    ['anthropic.claude-opus-4-7', { efforts: ['low', 'high'] }, false],
    ['claude-fable-5', { efforts: ['low', 'high'] }, true],
    ['gemini-2.5-pro', { takesReasoningBudget: true }, true],
    ['gemini-2.5-flash', { takesReasoningBudget: true, mayStopReasoning: true }, false],
    ['gpt-5', { efforts: ['minimal', 'low'] }, true],
    ['gpt-5.1', { efforts: ['none', 'low'] }, false],
  ])('%s with %p: reasoning is mandatory: %p', (id, facts, mandatory) => {
    expect(reasoningOf(fact(id, { reasoning: true, ...facts }))?.mandatory).toBe(mandatory)
  })

  test('models that the provider serves at another address are left out', () => {
    const override = (npm: string | null, api: string | null = null, shape: string | null = null) =>
      dialectOf(fact('a', { override: { npm, api, shape } }), 'x')
    expect(override('@ai-sdk/openai-compatible')).toBeNull()
    expect(override('@ai-sdk/anthropic')).toBe('messages')
    expect(override(null, null, 'responses')).toBe('responses')
    expect(override('@ai-sdk/google')).toBeUndefined()
    expect(override('@ai-sdk/openai-compatible', 'https://elsewhere.example')).toBeUndefined()
    expect(dialectOf(fact('gpt-5-pro'), 'openai')).toBe('responses')
    expect(dialectOf(fact('gpt-5.3-codex'), 'openai')).toBe('responses')
    expect(dialectOf(fact('gpt-5-mini'), 'openai')).toBeNull()
    expect(dialectOf(fact('grok-4.20-multi-agent-0309'), 'xai')).toBe('responses')
    expect(dialectOf(fact('grok-4.3'), 'xai')).toBeNull()
    expect(dialectOf(fact('gpt-5-pro'), 'poe')).toBeNull()
  })
})

describe('models that the facts lack', () => {
  const priced = (cost: FactModel['cost']) => {
    const seed = composeSeed(new Map([['openai', [fact('tts-1', { cost }), fact('gpt-4o')]]]), [])
    const rows = seed.endpoints['openai']?.filter(([, upstreamId]) => upstreamId === 'tts-1') ?? []
    return rows.map(([, , , , , output, , pricing]) => [
      seed.modalities[output],
      pricing === null ? null : seed.pricings[pricing],
    ])
  }

  test('are added with their price, also if the facts have the model without one', () => {
    const ours = [[['speech'], { prompt: '0', completion: '0', input_character: '0.000015' }]]
    expect(priced(null)).toEqual(ours)
    expect(priced({ input: 1, output: 2 })).toEqual([
      [['speech'], { prompt: '0.000001', completion: '0.000002' }],
    ])
    const { endpoints, pricings } = composeSeed(new Map(), [])
    const [, , , , , , , whisper] = endpoints['openai']?.find(([, id]) => id === 'whisper-1') ?? []
    expect(pricings[whisper ?? -1]).toEqual({ prompt: '0', completion: '0', audio_second: '0.0001' })
  })
})
