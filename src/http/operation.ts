import type { TSchema } from '@sinclair/typebox'
import type { ErrorStatus } from './refusals.ts'

export interface Operation {
  /** Unique in the document. */
  id: string
  summary: string
  tag: string
  description?: string
  /** Error statuses in addition to those that `refusals.ts` derives for its kind. */
  errors?: readonly ErrorStatus[]
  /** Reserves money and calls providers. */
  asksProvider?: boolean
  /** The status of a success; default 200. A redirect has no body. */
  status?: 200 | 201 | 303
  /** Schema of the JSON body, for routes that read and check it themselves. */
  body?: TSchema
  /** Schema of the body as `multipart/form-data`, if the operation accepts it. */
  form?: TSchema
  /** Schema of the 200 reply, for routes without a `response` schema. */
  reply?: TSchema
  /** Media types of a 200 reply that is not JSON. */
  media?: readonly string[]
  /** Further media types of a 200 reply, on request; the default is JSON. */
  alsoAs?: readonly string[]
  /** With `stream: true` in the body the 200 reply is a server-sent event stream. */
  streams?: boolean
  headers?: readonly HeaderParameter[]
  /** Headers of a successful reply. */
  replyHeaders?: Readonly<Record<string, ReplyHeader>>
  /** Schema of the errors, if they are not in the envelope. */
  error?: TSchema
  /** The required credential: absent: a key; `anyone`: none; `session`: the session of a person. */
  access?: 'anyone' | 'session'
}

export interface HeaderParameter {
  name: string
  description: string
  schema: { type: 'string'; enum?: string[]; maxLength?: number; default?: string }
}

export interface ReplyHeader {
  description: string
  schema: { type: 'string' | 'integer'; enum?: string[] }
}

/** Opts in to routing metadata on inference replies. */
export const SERVICE_METADATA_HEADER: HeaderParameter = {
  name: 'X-Service-Metadata',
  description: 'Whether the reply carries routing metadata under `service_metadata`.',
  schema: { type: 'string', enum: ['disabled', 'enabled'], default: 'disabled' },
}

/** Opts in to the calls of server tools in chat completions. */
export const TOOL_EVENTS_HEADER: HeaderParameter = {
  name: 'X-Service-Tool-Events',
  description:
    "Whether the reply, or its chunks, have the calls of the gateway's own tools in `tool_events`.",
  schema: { type: 'string', enum: ['disabled', 'enabled'], default: 'disabled' },
}

/** The response cache. Each header is also accepted as `X-Service-Cache…`. */
export const CACHE_HEADERS: readonly HeaderParameter[] = [
  {
    name: 'X-OpenRouter-Cache',
    description:
      "Whether to use the response cache: an equal request gets the cached reply at no cost. Default: the workspace's " +
      'response_cache_enabled. X-OpenRouter-Cache-Status, -Age, -TTL and -Source-Id of the reply describe the result.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
  {
    name: 'X-OpenRouter-Cache-TTL',
    description: 'How long a new reply is cached, in seconds from 1 to 86400.',
    schema: { type: 'string', maxLength: 16 },
  },
  {
    name: 'X-OpenRouter-Cache-Clear',
    description:
      'With `true` the request is sent to the provider, and the new reply replaces the cached one.',
    schema: { type: 'string', enum: ['true', 'false'] },
  },
]

/** Headers of every inference reply with a generation. */
export const GENERATION_REPLY_HEADERS: Readonly<Record<string, ReplyHeader>> = {
  'X-Generation-Id': {
    description: 'The id for GET /generation. Failures after a provider was called have it too.',
    schema: { type: 'string' },
  },
}

/** The same with the headers of the response cache, which are also sent as `X-Service-Cache…`. */
export const CACHE_REPLY_HEADERS: Readonly<Record<string, ReplyHeader>> = {
  ...GENERATION_REPLY_HEADERS,
  'X-OpenRouter-Cache-Status': {
    description: 'Whether the reply is a cache hit; absent if the cache is off.',
    schema: { type: 'string', enum: ['HIT', 'MISS'] },
  },
  'X-OpenRouter-Cache-Age': {
    description: 'Of a hit: seconds since the reply was created.',
    schema: { type: 'integer' },
  },
  'X-OpenRouter-Cache-TTL': {
    description: 'Seconds until the cached reply expires.',
    schema: { type: 'integer' },
  },
  'X-OpenRouter-Cache-Source-Id': {
    description: 'Of a hit: the generation that created the reply.',
    schema: { type: 'string' },
  },
}

/** Sent with temporary rejections. The other rate-limit headers are sent with a 429 of this gateway only. */
const RETRY_AFTER: ReplyHeader = {
  description: 'Seconds after which to retry; absent if waiting does not help.',
  schema: { type: 'integer' },
}
export const REFUSAL_HEADERS: Readonly<Record<number, Readonly<Record<string, ReplyHeader>>>> = {
  429: {
    'Retry-After': RETRY_AFTER,
    RateLimit: { description: 'What remains of the limit, and when it resets.', schema: { type: 'string' } },
    'RateLimit-Policy': { description: 'The limit that was reached.', schema: { type: 'string' } },
    'X-RateLimit-Limit': { description: 'The limit.', schema: { type: 'integer' } },
    'X-RateLimit-Remaining': { description: 'What remains of it.', schema: { type: 'integer' } },
    'X-RateLimit-Reset': {
      description: 'When the request would fit: milliseconds since 1970.',
      schema: { type: 'integer' },
    },
  },
  503: { 'Retry-After': RETRY_AFTER },
}

/** Makes a creation safe to retry. */
export const IDEMPOTENCY_KEY_HEADER: HeaderParameter = {
  name: 'Idempotency-Key',
  description:
    'For 24 hours, a request with the same key and the same body gets the first reply and creates nothing.',
  schema: { type: 'string', maxLength: 255 },
}

/** The `detail` of a wildcard route: the document shows the operations under their own paths, `{name}` for a parameter. */
export const wildcard = (operations: Readonly<Record<string, object>>) => ({
  hide: true,
  'x-documented-as': operations,
})

/** Describes a route for the API document, as its `detail`. `openapi-document.ts` reads the fields that begin with `x-`. */
export const operation = ({ id, summary, tag, description, access, ...shapes }: Operation) => ({
  operationId: id,
  summary,
  tags: [tag],
  ...(access === undefined ? {} : { security: access === 'anyone' ? [] : [{ session: [] }] }),
  ...(description === undefined ? {} : { description }),
  'x-shapes': { access, ...shapes },
})

/** The same for the operations of one tag: `documented('listKeys', 'List API keys')`. */
export const operationsOf =
  (tag: string) =>
  (id: string, summary: string, more: Omit<Operation, 'id' | 'summary' | 'tag'> = {}) =>
    operation({ id, tag, summary, ...more })

/** A creation answers 201 and takes an `Idempotency-Key`. */
export const CREATION: Pick<Operation, 'status' | 'headers'> = {
  status: 201,
  headers: [IDEMPOTENCY_KEY_HEADER],
}

/** A change that applies immediately. It conflicts with a concurrent change of the same resource. */
export const CHANGE: Pick<Operation, 'description' | 'errors'> = {
  description: 'The change holds for the next request.',
  errors: [409],
}
