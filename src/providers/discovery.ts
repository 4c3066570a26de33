import type { JsonObject } from '../core/events.ts'
import { asCount, asFilledText, asList, fieldsOf, isObject, isString, objectsIn } from '../core/json.ts'
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

/** Reads JSON from a URL on this machine; null for anything but a 2xx with JSON. Must have a time limit. */
type Probe = (url: string) => Promise<unknown>

interface FoundModel {
  /** The model's name at the server. */
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
  const { version } = fieldsOf(await probe(`${origin}/api/version`))
  if (!isString(version)) return null
  const { models } = fieldsOf(await probe(`${origin}/api/tags`))
  if (!Array.isArray(models)) return null
  return modelsIn(models, 'name', ({ details }) => ({
    quantization: textIn(fieldsOf(details)['quantization_level']),
  }))
}

/** `GET /api/v0/models` exists only at LM Studio and has more fields than OpenAI's list. */
async function findLmStudio(origin: string, probe: Probe): Promise<FoundModel[] | null> {
  const list = await rowsAt(`${origin}/api/v0/models`, probe)
  if (list === null || !list.every((row) => isObject(row) && 'compatibility_type' in row && 'state' in row))
    return null
  return modelsIn(list, 'id', ({ type, max_context_length, quantization }) => ({
    contextLength: lengthIn(max_context_length),
    quantization: textIn(quantization),
    inputModalities: type === 'vlm' ? ['text', 'image'] : ['text'],
    outputModalities: [type === 'embeddings' ? 'embeddings' : 'text'],
  }))
}

async function findLlamaCpp(origin: string, probe: Probe): Promise<FoundModel[] | null> {
  const props = fieldsOf(await probe(`${origin}/props`))
  const { default_generation_settings: settings, modalities } = props
  if (!isObject(settings) || !('build_info' in props || 'model_path' in props)) return null
  const list = await rowsAt(`${origin}/v1/models`, probe)
  const hasVision = fieldsOf(modalities)['vision'] === true
  return modelsIn(list, 'id', () => ({
    contextLength: lengthIn(settings['n_ctx']),
    inputModalities: hasVision ? ['text', 'image'] : ['text'],
  }))
}

async function findVllm(origin: string, probe: Probe): Promise<FoundModel[] | null> {
  const { version } = fieldsOf(await probe(`${origin}/version`))
  if (!isString(version)) return null
  const list = await rowsAt(`${origin}/v1/models`, probe)
  if (!list?.every((row) => fieldsOf(row)['owned_by'] === 'vllm')) return null
  return modelsIn(list, 'id', ({ max_model_len }) => ({ contextLength: lengthIn(max_model_len) }))
}

/** The rows of a list in OpenAI's form; null without any. */
async function rowsAt(url: string, probe: Probe): Promise<readonly unknown[] | null> {
  const rows = asList(fieldsOf(await probe(url))['data'])
  return rows.length > 0 ? rows : null
}

function modelsIn(
  rows: readonly unknown[] | null,
  idField: string,
  knownOf: (row: JsonObject) => Partial<FoundModel>,
): FoundModel[] | null {
  if (rows === null) return null
  const unknown = { contextLength: null, inputModalities: [], outputModalities: [], quantization: null }
  return objectsIn(rows).flatMap((row) => {
    const id = asFilledText(row[idField])
    return id === undefined ? [] : [{ id, ...unknown, ...knownOf(row) }]
  })
}

const textIn = (value: unknown): string | null => asFilledText(value) ?? null
const lengthIn = (value: unknown): number | null => asCount(value) || null
