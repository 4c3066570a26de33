import { afterEach, describe, expect, test } from 'bun:test'
import { probeJson } from '../../src/net/content.ts'
import { type Discovered, discover, localServers, watchLocalServers } from '../../src/providers/discovery.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from './defaults.ts'

const stops: (() => unknown)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

type Pages = Record<string, unknown>

function serve(pages: Pages): number {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const page = pages[new URL(request.url).pathname]
      return page === undefined ? new Response('not here', { status: 404 }) : Response.json(page)
    },
  })
  stops.push(() => server.stop(true))
  return server.port ?? 0
}

/** A port where nothing listens. */
function closedPort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  server.stop(true)
  return server.port ?? 0
}

const OLLAMA: Pages = {
  '/api/version': { version: '0.12.3' },
  '/api/tags': {
    models: [
      {
        name: 'llama3.2:latest',
        model: 'llama3.2:latest',
        size: 1,
        details: { quantization_level: 'Q4_K_M' },
      },
      { name: 'qwen3:8b', model: 'qwen3:8b', details: {} },
    ],
  },
}
const LM_STUDIO: Pages = {
  '/api/v0/models': {
    object: 'list',
    data: [
      {
        id: 'qwen2-vl-7b',
        object: 'model',
        type: 'vlm',
        publisher: 'mlx',
        arch: 'qwen2_vl',
        compatibility_type: 'mlx',
        quantization: '4bit',
        state: 'not-loaded',
        max_context_length: 32_768,
      },
      {
        id: 'openai/gpt-oss-20b',
        object: 'model',
        type: 'llm',
        compatibility_type: 'gguf',
        state: 'loaded',
        max_context_length: 131_072,
      },
      {
        id: 'nomic',
        object: 'model',
        type: 'embeddings',
        compatibility_type: 'gguf',
        state: 'loaded',
        max_context_length: 2_048,
      },
    ],
  },
}
const LLAMA_CPP: Pages = {
  '/props': {
    default_generation_settings: { n_ctx: 8192 },
    total_slots: 1,
    model_path: '/m/a.gguf',
    build_info: 'b1',
    modalities: { vision: true },
  },
  '/v1/models': { object: 'list', data: [{ id: '/m/a.gguf', object: 'model', owned_by: 'llamacpp' }] },
}
const VLLM: Pages = {
  '/version': { version: '0.11.0' },
  '/v1/models': {
    object: 'list',
    data: [{ id: 'Qwen/Qwen3-8B', object: 'model', owned_by: 'vllm', max_model_len: 40_960 }],
  },
}

/** Each server at a port of ours; those that are not given are closed. */
const at = (ports: Record<string, number>) =>
  localServers.map((server) => ({ ...server, port: ports[server.slug] ?? closedPort() }))
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

  test('costs nothing, keeps nothing, and takes no traffic from a catalogue model', async () => {
    const { models } = await look({ ollama: serve(OLLAMA), vllm: serve(VLLM) })
    expect(models).toHaveLength(3)
    for (const { endpoint, mayJoinCatalog } of models) {
      expect(endpoint.pricing).toEqual({ prompt: 0n, completion: 0n, request: 0n })
      expect(endpoint.isZdr).toBe(true)
      expect(mayJoinCatalog).toBe(false)
    }
  })
})

describe('what is not there', () => {
  test.each<[name: string, slug: string, pages: Pages]>([
    ['nothing but 404', 'ollama', {}],
    ["Ollama's version without its tags", 'ollama', { '/api/version': { version: '1' } }],
    [
      'some web page at the port of Ollama',
      'ollama',
      { '/api/version': 'hello', '/api/tags': { models: [{ name: 'x' }] } },
    ],
    [
      'a server of the OpenAI shape that is no LM Studio',
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

  test('nothing listens', async () => {
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

  test('a server that the operator set up is theirs', async () => {
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

describe('watching', () => {
  test('reports only changes, until it is stopped', async () => {
    const tags: { name: string }[] = [{ name: 'a:1b' }]
    const port = serve({ '/api/version': { version: '1' }, '/api/tags': { models: tags } })
    const told: Discovered[] = []
    let looks = 0
    let resolveNext: (() => void) | undefined
    const next = (): Promise<void> => new Promise((resolve) => (resolveNext = resolve))
    const watch = watchLocalServers({
      probe: async (url) => {
        const page = await probeJson(url)
        if (url.endsWith('/api/tags')) {
          looks += 1
          resolveNext?.()
        }
        return page
      },
      defaults,
      configured: () => [],
      servers: at({ ollama: port }),
      onChange: (found) => told.push(found),
      intervalMs: 1,
    })
    stops.push(watch.stop)
    await watch.first
    expect(told.map(({ models }) => models.map(({ endpoint }) => endpoint.upstreamId))).toEqual([['a:1b']])
    for (let round = 0; round < 3; round += 1) await next()
    expect(told).toHaveLength(1)
    tags.push({ name: 'b:2b' })
    for (let round = 0; round < 3; round += 1) await next()
    expect(told.at(-1)?.models.map(({ endpoint }) => endpoint.upstreamId)).toEqual(['a:1b', 'b:2b'])
    tags.splice(0)
    for (let round = 0; round < 3; round += 1) await next()
    expect(told.at(-1)).toEqual({ providers: [], models: [] })
    expect(told).toHaveLength(3)
    await next()
    watch.stop()
    const before = looks
    // A look that was under way may end; none begins.
    await Bun.sleep(20)
    expect(looks).toBeLessThanOrEqual(before + 1)
  })

  test('a failing listener is reported, and the watch goes on', async () => {
    const port = serve(OLLAMA)
    const errors: unknown[] = []
    const watch = watchLocalServers({
      probe: probeJson,
      defaults,
      configured: () => [],
      servers: at({ ollama: port }),
      onChange: () => {
        throw new Error('listener')
      },
      onError: (error) => errors.push(error),
    })
    stops.push(watch.stop)
    await watch.first
    expect(errors.map(String)).toEqual(['Error: listener'])
  })

  test('without a server nothing is reported', async () => {
    let told = 0
    const watch = watchLocalServers({
      probe: async () => null,
      defaults,
      configured: () => [],
      onChange: () => {
        told += 1
      },
    })
    await watch.first
    watch.stop()
    expect(told).toBe(0)
  })
})
