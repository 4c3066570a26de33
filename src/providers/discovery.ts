import type { ModelOffer, ProviderRecord } from '../core/snapshot.ts'
import type { ProviderDefaults } from './environment.ts'
import { type FoundModel, type LocalServer, localServers, type Probe } from './local-servers.ts'

export interface Discovered {
  readonly providers: readonly ProviderRecord[]
  readonly models: readonly ModelOffer[]
}

export interface DiscoveryOptions {
  readonly probe: Probe
  readonly defaults: ProviderDefaults
  /** Providers that the operator set up: a server that is among them, by slug or by address, is theirs. */
  readonly configured: () => readonly ProviderRecord[]
  /** Default: the usual servers at their usual ports. */
  readonly servers?: readonly LocalServer[]
}

export interface WatchOptions extends DiscoveryOptions {
  /** Called when what was found differs from the time before; first for the first server found. */
  readonly onChange: (found: Discovered) => void
  /** Called when `onChange` failed; the next look comes all the same. */
  readonly onError?: (error: unknown) => void
  readonly intervalMs?: number
}

export interface Watch {
  /** Resolves after the first look around. Nobody must wait for it. */
  readonly first: Promise<void>
  stop(): void
}

const INTERVAL_MS = 60_000

/**
 * Looks for local servers now and then every minute, one look at a time, without keeping the process alive. Where
 * `SLUICE_DISCOVER` is `off`, it is not called.
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

/** One look at every local server, all at once. A server that fails or answers as something else is not there. */
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
    // Ollama and LM Studio read no addresses; the others would, from the operator's own machine.
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
