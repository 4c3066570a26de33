import type { DialectName } from '../core/events.ts'
import type { ConfigProblem } from '../core/problem.ts'
import type { EndpointRecord, ModelOffer, Pricing, ProviderFacts, ProviderRecord } from '../core/snapshot.ts'
import { regionFields, regionIn } from './bedrock.ts'
import { cloudFields, entryAddress, entryCredential } from './entry-credential.ts'
import { readDataFacts } from './entry-facts.ts'
import { readPricing } from './entry-pricing.ts'
import { type Entry, type EntryModel, parseEntries } from './entry-schema.ts'
import type { Environment, ProviderDefaults } from './environment.ts'
import { credentialHeaderFor } from './provider.ts'
import { expandVariables, isLoopback } from './settings.ts'
import { quirksOfAddress } from './vendor-quirks.ts'
import { vertexDialect } from './vertex.ts'

const SLUG = /^[a-z0-9](?:[a-z0-9._-]{0,62}[a-z0-9])?$/
const RESERVED = 'sluice'

export interface Entries {
  readonly providers: ProviderRecord[]
  readonly models: ModelOffer[]
  readonly problems: ConfigProblem[]
}

/**
 * Reads the `providers:` list of the settings file. `${NAME}` in any string is replaced from the environment. All
 * problems of all entries are reported, with their places. With any problem, providers and models must not be used.
 */
export function readEntries(value: unknown, environment: Environment, defaults: ProviderDefaults): Entries {
  const problems: ConfigProblem[] = []
  const expanded = expandVariables(value, environment, 'providers', problems)
  const entries = parseEntries(expanded, problems)
  const providers: ProviderRecord[] = []
  const models: ModelOffer[] = []
  const slugs = new Map<string, number>()
  for (const [index, entry] of entries) {
    const place = `providers[${index}]`
    const twin = slugs.get(entry.slug)
    if (twin !== undefined) {
      problems.push({ path: `${place}.slug`, message: `"${entry.slug}" is taken by providers[${twin}]` })
    }
    slugs.set(entry.slug, index)
    const provider = providerOf(entry, place, defaults, problems)
    providers.push(provider)
    models.push(...modelsOf(entry, provider, place, problems))
  }
  return { providers, models, problems }
}

function providerOf(
  entry: Entry,
  place: string,
  defaults: ProviderDefaults,
  problems: ConfigProblem[],
): ProviderRecord {
  if (!SLUG.test(entry.slug)) {
    problems.push({
      path: `${place}.slug`,
      message:
        'must be 1 to 64 lower-case letters, digits, ".", "_" or "-", and begin and end with a letter or digit',
    })
  }
  if (entry.slug === RESERVED) {
    problems.push({ path: `${place}.slug`, message: `"${RESERVED}" is the built-in demo provider` })
  }
  const [dialect, ...alsoSpeaks] = dialectsOf(entry)
  const isBedrock = dialect === 'converse'
  if (
    entry.delegate_tools &&
    [dialect, ...alsoSpeaks].some((name) => name !== 'chat' && name !== 'responses')
  )
    problems.push({ path: `${place}.delegate_tools`, message: 'needs the dialect chat, responses, or both' })
  const cloud = cloudFields(entry, place, problems)
  const baseUrl = cloud?.baseUrl ?? entryAddress(entry, isBedrock, place, problems)
  return {
    slug: entry.slug,
    name: entry.name ?? entry.slug,
    kind: isBedrock ? 'bedrock' : 'compatible',
    dialect,
    ...(alsoSpeaks.length > 0 ? { alsoSpeaks } : {}),
    baseUrl,
    ...credentialHeaderFor(dialect),
    ...(isBedrock ? regionFields(entry.aws?.region?.trim() ?? regionIn(baseUrl)) : {}),
    credentials: cloud ? [] : [entryCredential(entry, isBedrock, baseUrl, place, problems)],
    ...cloud,
    // The entry's dialects take precedence over those of its cloud.
    ...(cloud && entry.dialect !== undefined ? { dialect, alsoSpeaks } : {}),
    timeouts: {
      firstByteMs: entry.timeouts?.first_byte_ms ?? defaults.timeouts.firstByteMs,
      betweenBytesMs: entry.timeouts?.between_bytes_ms ?? defaults.timeouts.betweenBytesMs,
      totalMs: entry.timeouts?.total_ms ?? defaults.timeouts.totalMs,
    },
    maxInFlight: entry.max_in_flight ?? defaults.maxInFlight,
    quirks: {
      ...quirksOfAddress(baseUrl),
      ...cloud?.quirks,
      ...(entry.delegate_tools === true && { serverTools: true, delegates: true }),
      ...(entry.takes_urls === undefined ? {} : { takesUrls: entry.takes_urls }),
      ...(entry.account_tier && { accountTier: entry.account_tier }),
    },
    isLocal: isLoopback(baseUrl),
    ...(entry.trace_context ? { sendsTrace: true } : {}),
    declared: readDataFacts(entry, place, problems),
  }
}

/** The provider's own dialect first; Bedrock's block implies its own. */
function dialectsOf({
  aws,
  dialect: written = aws ? 'converse' : 'chat',
}: Entry): [DialectName, ...DialectName[]] {
  const [first = 'chat', ...others] = new Set(typeof written === 'string' ? [written] : written)
  return [first, ...others]
}

function modelsOf(
  entry: Entry,
  provider: ProviderRecord,
  place: string,
  problems: ConfigProblem[],
): ModelOffer[] {
  const ids = new Map<string, number>()
  const offers: ModelOffer[] = []
  for (const [index, model] of (entry.models ?? []).entries()) {
    const path = `${place}.models[${index}]`
    const twin = ids.get(model.id)
    if (twin !== undefined) {
      problems.push({ path: `${path}.id`, message: `"${model.id}" is taken by ${place}.models[${twin}]` })
    }
    ids.set(model.id, index)
    const pricing =
      model.pricing === undefined ? null : readPricing(model.pricing, `${path}.pricing`, problems)
    offers.push({
      endpoint: withDialect(
        endpointOf(model, provider, pricing, readDataFacts(model, path, problems)),
        entry,
        provider,
      ),
      name: model.name ?? null,
      created: null,
      aliases: [],
      mayJoinCatalog: true,
    })
  }
  return offers
}

function endpointOf(
  model: EntryModel,
  provider: ProviderRecord,
  pricing: Pricing | null,
  declared: ProviderFacts,
): EndpointRecord {
  return {
    id: `${provider.slug}/${model.id}`,
    providerSlug: provider.slug,
    modelId: model.id,
    upstreamId: model.upstream_id ?? model.id,
    contextLength: model.context_length ?? null,
    maxCompletionTokens: model.max_completion_tokens ?? null,
    inputModalities: model.architecture?.input_modalities ?? [],
    outputModalities: model.architecture?.output_modalities ?? [],
    supportedParameters: model.supported_parameters ?? null,
    pricing,
    quantization: null,
    isZdr: provider.isLocal,
    ...declared,
  }
}

/** Vertex serves each model in the dialect of its vendor, unless the entry sets one. */
function withDialect(endpoint: EndpointRecord, entry: Entry, { kind }: ProviderRecord): EndpointRecord {
  if (kind !== 'vertex' || entry.dialect !== undefined) return endpoint
  return { ...endpoint, dialects: [vertexDialect(endpoint.upstreamId)] }
}
