import { fieldsOf, isObject } from '../core/json.ts'
import type { ModelOffer, ProviderRecord } from '../core/snapshot.ts'
import type { ProviderDefaults } from './environment.ts'

export interface Discovered {
  readonly providers: readonly ProviderRecord[]
  readonly models: readonly ModelOffer[]
}

interface DiscoveryOptions {
  readonly probe: Probe
  readonly defaults: ProviderDefaults
  /** The operator's providers: a local server with the slug or address of one of them is skipped. */
  readonly configured: () => readonly ProviderRecord[]
  /** Default: the known servers at their usual ports. */
  readonly servers?: readonly LocalServer[]
}

interface WatchOptions extends DiscoveryOptions {
  /** Called when the result differs from the previous one; first for the first server found. */
  readonly onChange: (found: Discovered) => void
  /** Called when `onChange` throws; the watch goes on. */
  readonly onError?: (error: unknown) => void
  readonly intervalMs?: number
}

interface Watch {
  /** Resolves after the first search. Startup does not wait for it. */
  readonly first: Promise<void>
  stop(): void
}

const INTERVAL_MS = 60_000

/**
 * Searches for local servers now and then every minute, one search at a time, without keeping the process alive. Not
 * called if `SLUICE_DISCOVER` is `off`.
 */
export function watchLocalServers(options: WatchOptions): Watch {
  let seen = fingerprint({ providers: [], models: [] })
  let isStopped = false
  let timer: ReturnType<typeof setTimeout> | undefined
  const look = async (): Promise<void> => {
    try {
      const found = await discover(options)
      const now = fingerprint(found)
      if (!isStopped && now !== seen) {
        seen = now
        options.onChange(found)
      }
    } catch (error) {
      options.onError?.(error)
    }
    if (isStopped) return
    timer = setTimeout(look, options.intervalMs ?? INTERVAL_MS)
    timer.unref()
  }
  return {
    first: look(),
    stop() {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

/** Probes all local servers at once. A server that fails, or that identifies as another, is skipped. */
export async function discover(options: DiscoveryOptions): Promise<Discovered> {
  const configured = options.configured()
  const providers: ProviderRecord[] = []
  const models: ModelOffer[] = []
  const looks = (options.servers ?? localServers).map(async (server) => {
    const origin = `http://127.0.0.1:${server.port}`
    const provider = recordOf(server, `${origin}/v1`, options.defaults)
    if (configured.some((other) => isSame(other, provider))) return null
    const found = await server.find(origin, options.probe).catch(() => null)
    return found === null || found.length === 0 ? null : { provider, found }
  })
  for (const look of await Promise.all(looks)) {
    if (look === null) continue
    providers.push(look.provider)
    models.push(...look.found.map((model) => offerOf(look.provider, model)))
  }
  return { providers, models }
}

function recordOf(server: LocalServer, baseUrl: string, defaults: ProviderDefaults): ProviderRecord {
  return {
    slug: server.slug,
    name: server.name,
    kind: 'compatible',
    dialect: 'chat',
    baseUrl,
    credentials: [{ id: server.slug, secret: null }],
    timeouts: defaults.timeouts,
    maxInFlight: defaults.maxInFlight,
    // Ollama and LM Studio fetch no URLs; the others would fetch them from the operator's own machine.
    quirks: { developerRole: false, outputBoundField: 'max_tokens', takesUrls: false },
    isLocal: true,
  }
}

/** `ollama/llama3.2` for `llama3.2:latest`. Never an endpoint of a catalogue model: that would move paid traffic here. */
function offerOf(provider: ProviderRecord, model: FoundModel): ModelOffer {
  const id = `${provider.slug}/${model.id.replace(/:latest$/, '')}`
  return {
    endpoint: {
      id,
      providerSlug: provider.slug,
      modelId: id,
      upstreamId: model.id,
      contextLength: model.contextLength,
      maxCompletionTokens: null,
      inputModalities: model.inputModalities,
      outputModalities: model.outputModalities,
      supportedParameters: null,
      pricing: { prompt: 0n, completion: 0n, request: 0n },
      quantization: model.quantization,
      isZdr: true,
    },
    name: `${provider.name}: ${model.id}`,
    created: null,
    aliases: [model.id, model.id.replace(/:latest$/, '')],
    mayJoinCatalog: false,
  }
}

function isSame(other: ProviderRecord, provider: ProviderRecord): boolean {
  const host = new URL(other.baseUrl).host.replace(/^(localhost|\[::1\])(?=:|$)/, '127.0.0.1')
  return other.slug === provider.slug || host === new URL(provider.baseUrl).host
}

const fingerprint = (found: Discovered): string =>
  JSON.stringify([found.providers.map(({ slug }) => slug), found.models], (_, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  )

/** Reads JSON at an address of this machine; null for anything but a 2xx with JSON. Must have its own time limit. */
type Probe = (url: string) => Promise<unknown>

interface FoundModel {
  /** The server's own name for it. */
  readonly id: string
  readonly contextLength: number | null
  /** Empty: unknown. */
  readonly inputModalities: readonly string[]
  readonly outputModalities: readonly string[]
  readonly quantization: string | null
}

interface LocalServer {
  readonly slug: string
  readonly name: string
  readonly port: number
  /** Null if the answer does not identify this server. */
  readonly find: (origin: string, probe: Probe) => Promise<FoundModel[] | null>
}

/** Local model servers at their usual ports. Each speaks the chat dialect below `/v1`. */
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
    const details = fieldsOf(model)['details']
    return id === null ? [] : [found(id, { quantization: textAt(details, 'quantization_level') })]
  })
}

/** `GET /api/v0/models` exists only at LM Studio and has more fields than OpenAI's list. */
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
