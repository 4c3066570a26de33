import { localServers } from '../../src/providers/discovery.ts'

const stops: (() => unknown)[] = []

/** Calls `stop` after the test, if the file has `afterEach(stopAll)`. */
export const stopLater = (stop: () => unknown): void => {
  stops.push(stop)
}

export async function stopAll(): Promise<void> {
  for (const stop of stops.splice(0)) await stop()
}

export type Pages = Record<string, unknown>

/** The port of a server that answers these paths, and 404 to others. */
export function serve(pages: Pages): number {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch(request) {
      const page = pages[new URL(request.url).pathname]
      return page === undefined ? new Response('not here', { status: 404 }) : Response.json(page)
    },
  })
  stopLater(() => server.stop(true))
  return server.port ?? 0
}

/** A closed port. */
function closedPort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  server.stop(true)
  return server.port ?? 0
}

export const OLLAMA: Pages = {
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

export const LM_STUDIO: Pages = {
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

export const LLAMA_CPP: Pages = {
  '/props': {
    default_generation_settings: { n_ctx: 8192 },
    total_slots: 1,
    model_path: '/m/a.gguf',
    build_info: 'b1',
    modalities: { vision: true },
  },
  '/v1/models': { object: 'list', data: [{ id: '/m/a.gguf', object: 'model', owned_by: 'llamacpp' }] },
}

export const VLLM: Pages = {
  '/version': { version: '0.11.0' },
  '/v1/models': {
    object: 'list',
    data: [{ id: 'Qwen/Qwen3-8B', object: 'model', owned_by: 'vllm', max_model_len: 40_960 }],
  },
}

/** The known servers at these ports; a server without one is at a closed port. */
export const at = (ports: Record<string, number>) =>
  localServers.map((server) => ({ ...server, port: ports[server.slug] ?? closedPort() }))
