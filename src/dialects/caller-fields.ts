import { badRequest } from '../core/errors.ts'
import type { DialectName, JsonObject } from '../core/events.ts'
import { defined, isObject } from '../core/json.ts'
import type {
  ContentPart,
  Cutoffs,
  InferenceRequest,
  ProviderPreferences,
  RoutedRequest,
} from '../core/request.ts'
import { withoutTrailing } from '../core/trailing.ts'
import type { ChatPreferences } from './caller-schema.ts'
import type { Drop } from './dropped.ts'
import { quoted } from './mismatch.ts'
import { checkPlugins, type Plugin } from './plugin-schema.ts'
import { refuseUnbuilt, serverToolOf } from './unbuilt.ts'

/** Reading and checking of fields that the bodies of several dialects share. */

/** Fields for the gateway in every body. */
interface RoutedBody extends JsonObject {
  model?: string | null
  models?: readonly string[] | null
  provider?: ChatPreferences | null
  session_id?: string | null
  user?: string | null
  trace?: JsonObject | null
}

type Route = 'fallback' | 'sort' | null | undefined

/** The routed part of a request. `parameters` is empty: only conversations set some that the catalogue names. */
export function readRouting<Type extends RoutedRequest['apiType']>(
  apiType: Type,
  body: RoutedBody,
  headers: Headers,
  route?: Route,
): RoutedRequest & { apiType: Type } {
  return {
    apiType,
    dialect: 'chat',
    body,
    models: modelsOf(body),
    stream: false,
    preferences: readPreferences(body.provider, route),
    sessionId: sessionOf(body.session_id, headers),
    user: body.user || undefined,
    trace: traceOf(body.trace),
    parameters: [],
  }
}

/** It is stored with the generation, so its size is bounded. */
const MOST_TRACE_CHARACTERS = 4_096

function traceOf(trace: JsonObject | null | undefined): JsonObject | undefined {
  if (!trace) return undefined
  const length = JSON.stringify(trace).length
  if (length > MOST_TRACE_CHARACTERS)
    throw badRequest(`must have at most ${MOST_TRACE_CHARACTERS} characters as JSON, not ${length}`, 'trace')
  return trace
}

interface ConversationBody extends RoutedBody {
  stream?: boolean | null
  route?: Route
  plugins?: readonly Plugin[] | null
}

/** The same for a conversation, whose body has more fields for the gateway. */
export function readConversationRouting(
  apiType: RoutedRequest['apiType'],
  dialect: DialectName,
  body: ConversationBody,
  headers: Headers,
): RoutedRequest {
  if (body.plugins) checkPlugins(body.plugins)
  refuseUnbuilt(body)
  const routing = {
    ...readRouting(apiType, body, headers, body.route),
    dialect,
    stream: body.stream === true,
  }
  const serverTool = body['tools'] || body['mcp_servers'] ? serverToolOf(body, dialect) : undefined
  return serverTool === undefined ? routing : { ...routing, serverTool }
}

/** One text without marks becomes a string, which every provider takes. */
export function plainest(parts: ContentPart[]): string | ContentPart[] {
  const [only] = parts
  return parts.length === 1 && only?.type === 'text' && only.extra === undefined ? only.text : parts
}

/** `model` first, then the fallbacks, each once; empty if the caller named none. */
function modelsOf({ model, models }: RoutedBody): string[] {
  if (!models) return model ? [model] : []
  return [...new Set(model ? [model, ...models] : models)]
}

const MAX_SESSION_ID = 256

/** The body takes precedence over the header x-session-id, which is then ignored. */
function sessionOf(sessionId: string | null | undefined, headers: Headers): string | undefined {
  if (sessionId) return sessionId
  const fromHeader = headers.get('x-session-id')
  if (fromHeader !== null && fromHeader.length > MAX_SESSION_ID) {
    throw badRequest(
      `The header x-session-id must have at most ${MAX_SESSION_ID} characters, not ${fromHeader.length}`,
    )
  }
  return fromHeader || undefined
}

const MAX_METADATA_PAIRS = 16
const MAX_METADATA_KEY = 64

/** What the schema of `metadata` cannot say: the bounds of its keys. */
export function checkMetadata(metadata: Readonly<Record<string, unknown>> | null | undefined): void {
  if (!metadata) return
  const pairs = Object.entries(metadata)
  if (pairs.length > MAX_METADATA_PAIRS) {
    throw badRequest(`must have at most ${MAX_METADATA_PAIRS} pairs, not ${pairs.length}`, 'metadata')
  }
  for (const [key, value] of pairs) {
    if (key.length > MAX_METADATA_KEY) {
      throw badRequest(
        `keys must have at most ${MAX_METADATA_KEY} characters; one has ${key.length}`,
        'metadata',
      )
    }
    if (/[[\]]/.test(key)) {
      throw badRequest(`keys must not have square brackets; ${quoted(key)} has`, 'metadata')
    }
    if (typeof value !== 'string') throw badRequest('values must be strings', `metadata.${key}`)
  }
}

/**
 * The body's `provider`, with slugs in lower case; an empty list or null is the same as none. The deprecated
 * `route` means a sort partition: `fallback` is `model`, `sort` is `none`; `provider.sort.partition` wins over it.
 */
function readPreferences(provider: RoutedBody['provider'], route: Route): ProviderPreferences {
  if (!provider) {
    const sortPartition = route ? PARTITION_OF[route] : undefined
    return { allowFallbacks: true, requireParameters: false, sortPartition }
  }
  checkIgnored(provider, 'only')
  checkIgnored(provider, 'order')
  const sort = typeof provider.sort === 'string' ? { by: provider.sort } : provider.sort
  const partition = sort && 'partition' in sort ? sort.partition : undefined
  return defined({
    order: slugsOf(provider.order),
    only: slugsOf(provider.only),
    ignore: slugsOf(provider.ignore),
    allowFallbacks: provider.allow_fallbacks ?? true,
    requireParameters: provider.require_parameters ?? false,
    sort: sort?.by ?? undefined,
    sortPartition: partition ?? (route ? PARTITION_OF[route] : undefined),
    dataCollection: provider.data_collection ?? undefined,
    zdr: provider.zdr ?? undefined,
    hedgeMs: provider.hedge_ms ?? undefined,
    quantizations: slugsOf(provider.quantizations),
    maxPrice: readMaxPrice(provider.max_price),
    enforceDistillableText: provider.enforce_distillable_text ?? undefined,
    preferredMinThroughput: readCutoffs(provider.preferred_min_throughput),
    preferredMaxLatency: readCutoffs(provider.preferred_max_latency),
  })
}

/** A slug in `ignore` ignores the endpoint tags of its provider too (`deepinfra/fp8`); a tag ignores only itself. */
function checkIgnored(provider: ChatPreferences, field: 'only' | 'order'): void {
  const ignored = slugsOf(provider.ignore)
  if (!ignored) return
  const both = slugsOf(provider[field])?.find((name) =>
    ignored.some((other) => name === other || name.startsWith(`${other}/`)),
  )
  if (both === undefined) return
  throw badRequest(
    `names ${quoted(both)}, and "provider.ignore" ignores it: leave it out of one of the two`,
    `provider.${field}`,
  )
}

const PARTITION_OF = { fallback: 'model', sort: 'none' } as const

const slugsOf = (slugs: readonly string[] | null | undefined): string[] | undefined =>
  slugs && slugs.length > 0 ? slugs.map((slug) => slug.toLowerCase()) : undefined

const PRICES = ['prompt', 'completion', 'image', 'audio', 'request'] as const

function readMaxPrice(prices: ChatPreferences['max_price']): ProviderPreferences['maxPrice'] {
  if (!prices) return undefined
  const read: NonNullable<ProviderPreferences['maxPrice']> = {}
  for (const name of PRICES) {
    const price = prices[name]
    if (price === null || price === undefined) continue
    const decimal = typeof price === 'number' ? decimalOf(price) : price
    if (!/^\d{1,9}(\.\d{1,18})?$/.test(decimal)) {
      throw badRequest(
        'must be USD as a number, or as a plain decimal string such as "0.5"',
        `provider.max_price.${name}`,
      )
    }
    read[name] = decimal
  }
  return Object.keys(read).length === 0 ? undefined : read
}

/** Without an exponent: JSON writes 0.0000001 as 1e-7. */
function decimalOf(number: number): string {
  const text = String(number)
  return text.includes('e-') ? withoutTrailing(withoutTrailing(number.toFixed(18), '0'), '.') : text
}

function readCutoffs(cutoffs: ChatPreferences['preferred_min_throughput']): Cutoffs | undefined {
  if (cutoffs === null || cutoffs === undefined) return undefined
  if (typeof cutoffs === 'number') return { p50: cutoffs }
  const { p50, p75, p90, p99 } = cutoffs
  return defined({
    p50: p50 ?? undefined,
    p75: p75 ?? undefined,
    p90: p90 ?? undefined,
    p99: p99 ?? undefined,
  })
}

/** OpenAI refuses a longer `user` (400 `string too long`), others one of more than 128 characters. */
const MOST_CHARACTERS = 64

/**
 * The caller's user id for providers of another dialect: coding agents send some 150 characters as Anthropic's
 * `metadata.user_id`. A longer name becomes its SHA-256 in hex, the same every time, and is named in `drop`.
 */
export function writeUser({ user }: InferenceRequest, drop: Drop): string | undefined {
  if (user === undefined || user.length <= MOST_CHARACTERS) return user
  drop('user')
  return new Bun.CryptoHasher('sha256').update(user).digest('hex')
}

/** A developer message as a system message, for providers without the newer role. */
export const withSystemRole = (message: unknown): unknown =>
  isObject(message) && message.role === 'developer' ? { ...message, role: 'system' } : message
