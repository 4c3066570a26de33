import { isObject } from '../core/json.ts'

/** Reads JSON at an address of this machine; null for whatever is not a 2xx with JSON. Must have its own time limit. */
export type Probe = (url: string) => Promise<unknown>

export interface FoundModel {
  /** The server's own name for it. */
  readonly id: string
  readonly contextLength: number | null
  /** Empty: it does not say. */
  readonly inputModalities: readonly string[]
  readonly outputModalities: readonly string[]
  readonly quantization: string | null
}

export interface LocalServer {
  readonly slug: string
  readonly name: string
  readonly port: number
  /** Null: whatever answers there does not identify itself as this server. */
  readonly find: (origin: string, probe: Probe) => Promise<FoundModel[] | null>
}

/** Servers that people run on their own machine, at their usual ports. Each speaks the chat dialect below `/v1`. */
export const localServers: readonly LocalServer[] = [
  { slug: 'ollama', name: 'Ollama', port: 11434, find: findOllama },
  { slug: 'lmstudio', name: 'LM Studio', port: 1234, find: findLmStudio },
  { slug: 'llamacpp', name: 'llama.cpp', port: 8080, find: findLlamaCpp },
  { slug: 'vllm', name: 'vLLM', port: 8000, find: findVllm },
]

async function findOllama(origin: string, probe: Probe): Promise<FoundModel[] | null> {
  const version = await probe(`${origin}/api/version`)
  if (!isObject(version) || typeof version['version'] !== 'string') return null
  const tags = await probe(`${origin}/api/tags`)
  if (!isObject(tags) || !Array.isArray(tags['models'])) return null
  return tags['models'].flatMap((model) => {
    const id = textAt(model, 'name')
    const details = isObject(model) ? model['details'] : undefined
    return id === null ? [] : [found(id, { quantization: textAt(details, 'quantization_level') })]
  })
}

/** `GET /api/v0/models` is LM Studio's alone; it tells what OpenAI's list does not. */
async function findLmStudio(origin: string, probe: Probe): Promise<FoundModel[] | null> {
  const list = rowsOf(await probe(`${origin}/api/v0/models`))
  if (list === null || !list.every((row) => isObject(row) && 'compatibility_type' in row && 'state' in row))
    return null
  return list.flatMap((row) => {
    const id = textAt(row, 'id')
    if (id === null) return []
    const type = textAt(row, 'type')
    const known = {
      contextLength: countAt(row, 'max_context_length'),
      quantization: textAt(row, 'quantization'),
    }
    if (type === 'embeddings')
      return [found(id, { ...known, inputModalities: ['text'], outputModalities: ['embeddings'] })]
    const inputModalities = type === 'vlm' ? ['text', 'image'] : ['text']
    return [found(id, { ...known, inputModalities, outputModalities: ['text'] })]
  })
}

async function findLlamaCpp(origin: string, probe: Probe): Promise<FoundModel[] | null> {
  const props = await probe(`${origin}/props`)
  if (!isObject(props) || !isObject(props['default_generation_settings'])) return null
  if (!('build_info' in props) && !('model_path' in props)) return null
  const list = rowsOf(await probe(`${origin}/v1/models`))
  if (list === null) return null
  const contextLength = countAt(props['default_generation_settings'], 'n_ctx')
  const sees = isObject(props['modalities']) && props['modalities']['vision'] === true
  return list.flatMap((row) => {
    const id = textAt(row, 'id')
    if (id === null) return []
    return [found(id, { contextLength, inputModalities: sees ? ['text', 'image'] : ['text'] })]
  })
}

async function findVllm(origin: string, probe: Probe): Promise<FoundModel[] | null> {
  const version = await probe(`${origin}/version`)
  if (!isObject(version) || typeof version['version'] !== 'string') return null
  const list = rowsOf(await probe(`${origin}/v1/models`))
  if (list === null || !list.every((row) => textAt(row, 'owned_by') === 'vllm')) return null
  return list.flatMap((row) => {
    const id = textAt(row, 'id')
    return id === null ? [] : [found(id, { contextLength: countAt(row, 'max_model_len') })]
  })
}

function found(id: string, known: Partial<FoundModel>): FoundModel {
  return { id, contextLength: null, inputModalities: [], outputModalities: [], quantization: null, ...known }
}

function rowsOf(list: unknown): unknown[] | null {
  return isObject(list) && Array.isArray(list['data']) && list['data'].length > 0 ? list['data'] : null
}

function textAt(row: unknown, key: string): string | null {
  const value = isObject(row) ? row[key] : undefined
  return typeof value === 'string' && value !== '' ? value : null
}

function countAt(row: unknown, key: string): number | null {
  const value = isObject(row) ? row[key] : undefined
  return typeof value === 'number' && Number.isInteger(value) && value > 0 ? value : null
}
