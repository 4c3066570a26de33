/** Models, endpoints and providers as the API shows them. */
import type { DataPolicy } from '../core/data-policy.ts'
import type { DialectName } from '../core/events.ts'
import type { EndpointMeasurements, Measurements, Percentiles } from '../core/measurements.ts'
import { formatPrice } from '../core/money.ts'
import { formatPrices, type PricedHours } from '../core/pricing.ts'
import type {
  DefaultParameters,
  ModelScores,
  Pricing,
  PricingTier,
  ProviderRecord,
  ReasoningFacts,
} from '../core/snapshot.ts'
import { descriptionOf } from './description.ts'
import type { Offered, OfferedEndpoint } from './listing.ts'
import type { EndpointView, ModelEndpointsView, ModelView, PricingView, ProviderView } from './schema.ts'

/** `basePath` precedes `/models` in addresses: `/api/v1`. */
export function modelView(offered: Offered, basePath: string): ModelView {
  const { model, top, reasoning } = offered
  return {
    id: model.id,
    object: 'model',
    owned_by: offered.author,
    canonical_slug: model.canonicalSlug,
    hugging_face_id: model.facts?.huggingFaceId ?? null,
    name: model.name,
    created: model.created,
    description: descriptionOf(offered),
    context_length: offered.contextLength,
    architecture: architectureOf(offered),
    pricing: pricingView(top.record.pricing),
    top_provider: {
      context_length: top.record.contextLength,
      max_completion_tokens: top.record.maxCompletionTokens,
      is_moderated: top.record.isModerated === true,
    },
    per_request_limits: null,
    supported_parameters: [...offered.supportedParameters],
    default_parameters: defaultParametersView(model.defaultParameters),
    supported_voices: model.supportedVoices === undefined ? null : [...model.supportedVoices],
    knowledge_cutoff: model.facts?.knowledgeCutoff ?? null,
    expiration_date: model.expirationDate ?? null,
    ...(reasoning === undefined ? {} : { reasoning: reasoningView(reasoning) }),
    ...(model.scores === undefined ? {} : { benchmarks: benchmarksView(model.scores) }),
    is_configured: top.isConfigured,
    links: { details: `${basePath}/models/${addressOf(offered)}/endpoints` },
  }
}

const defaultParametersView = (known: DefaultParameters | undefined) =>
  known === undefined
    ? null
    : {
        temperature: known['temperature'] ?? null,
        top_p: known['top_p'] ?? null,
        top_k: known['top_k'] ?? null,
        frequency_penalty: known['frequency_penalty'] ?? null,
        presence_penalty: known['presence_penalty'] ?? null,
        repetition_penalty: known['repetition_penalty'] ?? null,
      }

/** The three indexes where clients of the API expect them. */
const benchmarksView = (scores: ModelScores) => ({
  artificial_analysis: {
    intelligence_index: scores.intelligenceIndex ?? null,
    coding_index: scores.codingIndex ?? null,
    agentic_index: scores.agenticIndex ?? null,
  },
  design_arena: [],
  design_arena_elo: scores.designArenaElo ?? null,
  tool_success_rate: scores.toolSuccessRate ?? null,
})

/** `modelView` as JSON text. A list of a thousand models is a thousand texts that were written before. */
export function modelJson(offered: Offered, basePath: string): string {
  if (offered.json?.basePath === basePath) return offered.json.text
  const text = JSON.stringify(modelView(offered, basePath))
  offered.json = { basePath, text }
  return text
}

/** `author/slug` in an address; an id without an author is found below its provider's name. */
export const addressOf = ({ model, author }: Offered): string => {
  const slug = model.id.startsWith(`${author}/`) ? model.id.slice(author.length + 1) : model.id
  // A colon is legal in a path, and every variant has one.
  const written = (part: string): string => encodeURIComponent(part).replaceAll('%3A', ':')
  return `${written(author)}/${written(slug)}`
}

const architectureOf = ({ model, inputModalities, outputModalities }: Offered) => ({
  modality: `${inputModalities.join('+')}->${outputModalities.join('+')}`,
  input_modalities: [...inputModalities],
  output_modalities: [...outputModalities],
  tokenizer: model.facts?.tokenizer ?? 'Other',
  instruct_type: model.facts?.instructType ?? null,
})

const reasoningView = (reasoning: ReasoningFacts) => ({
  mandatory: !reasoning.mayBeOff,
  supported_efforts: reasoning.efforts === null ? null : [...reasoning.efforts],
  supports_max_tokens: reasoning.takesBudget,
})

export const modelEndpointsView = (offered: Offered, measurements: Measurements): ModelEndpointsView => ({
  id: offered.model.id,
  name: offered.model.name,
  created: offered.model.created,
  description: descriptionOf(offered),
  architecture: architectureOf(offered),
  endpoints: offered.endpoints.map((endpoint) => ({
    ...endpointView(offered, endpoint, measurements),
    status: 0,
  })),
})

/** Without its status, whose form differs between operations. Unknown values are null. */
function endpointView(
  { model }: Offered,
  { record, provider, isConfigured }: OfferedEndpoint,
  measurements: Measurements,
): EndpointView {
  const parameters = record.supportedParameters ?? []
  const [hasTools, hasChoice] = [parameters.includes('tools'), parameters.includes('tool_choice')]
  return {
    name: `${provider.name} | ${model.id}`,
    model_id: model.id,
    model_name: model.name,
    provider_name: provider.name,
    tag: tagOf({ record, provider }),
    quantization: record.quantization,
    context_length: record.contextLength ?? 0,
    max_completion_tokens: record.maxCompletionTokens,
    max_prompt_tokens: null,
    pricing: pricingView(record.pricing),
    supported_parameters: [...parameters],
    supports_implicit_caching: isCachingImplicit(record.dialects?.[0] ?? provider.dialect, record.pricing),
    supports_tool_choice: { auto: hasTools, none: hasTools, required: hasChoice, function: hasChoice },
    supports_voice_cloning: false,
    data_policy: dataPolicyView(record.dataPolicy),
    regions: record.regions === undefined ? null : [...record.regions],
    is_moderated: record.isModerated ?? null,
    is_configured: isConfigured,
    ...measuredView(measurements.of(record.id)),
  }
}

const dataPolicyView = ({ training, retentionDays, zdr }: DataPolicy = {}) => ({
  training: training ?? null,
  retention_days: retentionDays ?? null,
  zdr: zdr ?? null,
})

/** `endpointView` with its status as JSON text, of which all but the measurements was written before. */
export function endpointJson(
  offered: Offered,
  endpoint: OfferedEndpoint,
  measurements: Measurements,
  status: string | number,
): string {
  endpoint.json ??= JSON.stringify(endpointView(offered, endpoint, NOTHING_MEASURED)).slice(0, -1)
  const known = endpoint.json
  const measured = measurements.of(endpoint.record.id)
  // Measured values come last, so that they can be replaced without writing the rest again.
  const measuredText = measured === null ? '' : `,${JSON.stringify(measuredView(measured)).slice(1, -1)}`
  const plain = measured === null ? known : known.slice(0, known.lastIndexOf(',"latency_last_30m":'))
  return `${plain}${measuredText},"status":${JSON.stringify(status)}}`
}
const NOTHING_MEASURED: Measurements = { of: () => null }

/** What `provider.only` may name. */
export const tagOf = ({ record, provider }: Pick<OfferedEndpoint, 'record' | 'provider'>): string =>
  record.quantization === null ? provider.slug : `${provider.slug}/${record.quantization}`

const measuredView = (measured: EndpointMeasurements | null) => ({
  latency_last_30m: percentilesView(measured?.latencyMs ?? null),
  throughput_last_30m: percentilesView(measured?.tokensPerSecond ?? null),
  uptime_last_5m: measured?.uptime5m ?? null,
  uptime_last_30m: measured?.uptime30m ?? null,
  uptime_last_1d: measured?.uptime1d ?? null,
})

const percentilesView = (measured: Percentiles | null) =>
  measured === null ? null : { p50: measured.p50, p75: measured.p75, p90: measured.p90, p99: measured.p99 }

/** True if cached reads have a price and writes are free, or if Google charges for storage. */
const isCachingImplicit = (dialect: DialectName, pricing: Pricing | null): boolean =>
  pricing?.inputCacheRead !== undefined && (pricing.inputCacheWrite === undefined || dialect === 'gemini')

/** USD per unit as plain decimals. An unknown price is `-1`, which clients know from models whose price varies. */
export function pricingView(pricing: Pricing | null): PricingView {
  if (pricing === null) return { prompt: UNKNOWN, completion: UNKNOWN, image: '0', request: '0' }
  return {
    prompt: formatPrice(pricing.prompt),
    completion: formatPrice(pricing.completion),
    image: formatPrice(pricing.image ?? 0n),
    request: formatPrice(pricing.request),
    ...formatPrices(pricing),
    ...longPromptsView(pricing),
    ...(pricing.serviceTiers === undefined ? {} : { service_tiers: serviceTiersView(pricing.serviceTiers) }),
    ...(pricing.hours === undefined ? {} : { hours: pricing.hours.map(hoursView) }),
  }
}
const UNKNOWN = '-1'

const longPromptsView = ({ tiers }: Pricing) =>
  tiers === undefined ? {} : { overrides: tiers.map(tierView) }

const completeView = (pricing: Pricing) => ({ ...formatPrices(pricing), ...longPromptsView(pricing) })

const serviceTiersView = ({ flex, priority, batch }: NonNullable<Pricing['serviceTiers']>) => ({
  ...(flex === undefined ? {} : { flex: completeView(flex) }),
  ...(priority === undefined ? {} : { priority: completeView(priority) }),
  ...(batch === undefined ? {} : { batch: completeView(batch) }),
})

const hoursView = ({ from, until, pricing }: PricedHours) => ({
  from: timeText(from),
  until: timeText(until),
  prices: completeView(pricing),
})

/** 990 → `16:30` */
const timeText = (minute: number): string =>
  [Math.floor(minute / 60), minute % 60].map((part) => String(part).padStart(2, '0')).join(':')

const tierView = (tier: PricingTier) => ({ min_prompt_tokens: tier.minPromptTokens, ...formatPrices(tier) })

/** Policies and locations are null: no source has them. */
export const providerView = ({ name, slug }: ProviderRecord, isConfigured: boolean): ProviderView => ({
  name,
  slug,
  privacy_policy_url: null,
  terms_of_service_url: null,
  status_page_url: null,
  headquarters: null,
  datacenters: null,
  is_configured: isConfigured,
})
