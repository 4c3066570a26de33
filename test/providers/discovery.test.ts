import { afterEach, describe, expect, test } from 'bun:test'
import { probeJson } from '../../src/net/content.ts'
import { discover, localServers } from '../../src/providers/discovery.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from './defaults.ts'
import { at, LLAMA_CPP, LM_STUDIO, OLLAMA, type Pages, serve, stopAll, VLLM } from './local-servers.ts'

afterEach(stopAll)

const look = (
  ports: Record<string, number>,
  configured: Parameters<typeof discover>[0]['configured'] = () => [],
) => discover({ probe: probeJson, defaults, configured, servers: at(ports) })

test('the usual ports', () => {
  expect(Object.fromEntries(localServers.map(({ slug, port }) => [slug, port]))).toEqual({
    ollama: 11434,
    lmstudio: 1234,
    llamacpp: 8080,
    vllm: 8000,
  })
})

describe('a server that identifies itself', () => {
  test('Ollama', async () => {
    const port = serve(OLLAMA)
    const { providers, models } = await look({ ollama: port })
    expect(providers).toEqual([
      {
        slug: 'ollama',
        name: 'Ollama',
        kind: 'compatible',
        dialect: 'chat',
        baseUrl: `http://127.0.0.1:${port}/v1`,
        credentials: [{ id: 'ollama', secret: null }],
        timeouts: defaults.timeouts,
        maxInFlight: defaults.maxInFlight,
        quirks: { developerRole: false, outputBoundField: 'max_tokens', takesUrls: false },
        isLocal: true,
      },
    ])
    expect(
      models.map(({ endpoint }) => [endpoint.modelId, endpoint.upstreamId, endpoint.quantization]),
    ).toEqual([
      ['ollama/llama3.2', 'llama3.2:latest', 'Q4_K_M'],
      ['ollama/qwen3:8b', 'qwen3:8b', null],
    ])
  })

  test('LM Studio reports the types of its models', async () => {
    const { models } = await look({ lmstudio: serve(LM_STUDIO) })
    expect(
      models.map(({ endpoint }) => [
        endpoint.modelId,
        endpoint.inputModalities,
        endpoint.outputModalities,
        endpoint.contextLength,
      ]),
    ).toEqual([
      ['lmstudio/qwen2-vl-7b', ['text', 'image'], ['text'], 32_768],
      ['lmstudio/openai/gpt-oss-20b', ['text'], ['text'], 131_072],
      ['lmstudio/nomic', ['text'], ['embeddings'], 2_048],
    ])
  })

  test('llama.cpp and vLLM, at once', async () => {
    const { providers, models } = await look({ llamacpp: serve(LLAMA_CPP), vllm: serve(VLLM) })
    expect(providers.map(({ slug }) => slug)).toEqual(['llamacpp', 'vllm'])
    expect(
      models.map(({ endpoint }) => [endpoint.upstreamId, endpoint.contextLength, endpoint.inputModalities]),
    ).toEqual([
      ['/m/a.gguf', 8192, ['text', 'image']],
      ['Qwen/Qwen3-8B', 40_960, []],
    ])
  })

  test('is free, is ZDR, and takes no requests from a catalogue model', async () => {
    const { models } = await look({ ollama: serve(OLLAMA), vllm: serve(VLLM) })
    expect(models).toHaveLength(3)
    for (const { endpoint, mayJoinCatalog } of models) {
      expect(endpoint.pricing).toEqual({ prompt: 0n, completion: 0n, request: 0n })
      expect(endpoint.isZdr).toBe(true)
      expect(mayJoinCatalog).toBe(false)
    }
  })
})

describe('nothing is found at', () => {
  test.each<[name: string, slug: string, pages: Pages]>([
    ['nothing but 404', 'ollama', {}],
    ["Ollama's version without its tags", 'ollama', { '/api/version': { version: '1' } }],
    [
      'some other web page at the port of Ollama',
      'ollama',
      { '/api/version': 'hello', '/api/tags': { models: [{ name: 'x' }] } },
    ],
    [
      'an OpenAI-compatible server other than LM Studio',
      'lmstudio',
      { '/api/v0/models': { data: [{ id: 'x' }] } },
    ],
    [
      'an application at 8080',
      'llamacpp',
      { '/props': { theme: 'dark' }, '/v1/models': { data: [{ id: 'x' }] } },
    ],
    [
      'an application at 8000 with a version',
      'vllm',
      { '/version': { version: '2' }, '/v1/models': { data: [{ id: 'x', owned_by: 'me' }] } },
    ],
    ['a vLLM without models', 'vllm', { '/version': { version: '2' }, '/v1/models': { data: [] } }],
    ['null', 'vllm', { '/version': null }],
  ])('%s', async (_, slug, pages) => {
    expect(await look({ [slug]: serve(pages) })).toEqual({ providers: [], models: [] })
  })

  test('a closed port', async () => {
    expect(await look({})).toEqual({ providers: [], models: [] })
  })

  test('a probe that throws', async () => {
    const found = await discover({
      probe: () => Promise.reject(new Error('no')),
      defaults,
      configured: () => [],
    })
    expect(found).toEqual({ providers: [], models: [] })
  })

  test('a server that the operator has configured', async () => {
    const port = serve(OLLAMA)
    for (const entry of [
      { slug: 'mine', base_url: `http://127.0.0.1:${port}/v1` },
      { slug: 'mine', base_url: `http://localhost:${port}/v1` },
      { slug: 'ollama', base_url: 'http://10.0.0.2:11434/v1' },
    ]) {
      const { providers } = readEntries([entry], {}, defaults)
      expect(await look({ ollama: port }, () => providers)).toEqual({ providers: [], models: [] })
    }
    const { providers } = environmentProviders({ OPENAI_API_KEY: 'k' }, defaults)
    expect((await look({ ollama: port }, () => providers)).providers).toHaveLength(1)
  })
})
