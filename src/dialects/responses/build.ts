import type { Attempt } from '../../core/attempt.ts'
import type { JsonObject } from '../../core/events.ts'
import { asList, defined, isObject, isString } from '../../core/json.ts'
import { bodyIn, type InferenceRequest } from '../../core/request.ts'
import { words } from '../../core/words.ts'
import { withSystemRole } from '../caller-fields.ts'
import { GATEWAY_FIELDS } from '../caller-schema.ts'
import { applyDelegated } from '../delegated.ts'
import type { DialectCall } from '../dialect.ts'
import { type Drop, dropsInto } from '../dropped.ts'
import { type ReplayRules, sendable } from './build-input.ts'
import { neutralBody } from './build-neutral.ts'
import { applyReasoning, reasons } from './build-reasoning.ts'
import { ENCRYPTED_REASONING, ITEM, isOwnItemId, optionalPartsOf } from './items.ts'
import { formerCallOf } from './write-server-tool.ts'

/**
 * Fields for the gateway itself, never sent to a provider. State is kept by the gateway, which has put what
 * `previous_response_id` refers to into `input`.
 */
const NOT_SENT: ReadonlySet<string> = new Set([
  ...GATEWAY_FIELDS,
  'usage',
  'include_reasoning',
  'previous_response_id',
  'background',
  'store',
])

/** Fields of our API that OpenAI's does not have: its servers reject them with a 400. */
const EXTENSIONS = words(
  'frequency_penalty presence_penalty top_k modalities image_config cache_control x_search_filter',
)

/** Parameters that only tune the answer: dropped and named if an endpoint is known not to take them. */
const TUNING = [
  'temperature',
  'top_p',
  'top_k',
  'frequency_penalty',
  'presence_penalty',
  'top_logprobs',
] as const

const LOGPROBS = 'message.output_text.logprobs'

/**
 * The call to a provider of the Responses dialect. The body of a caller of the same dialect is forwarded, unknown
 * fields at every level included, without the gateway's fields; other dialects are written from the neutral request
 * (`build-neutral.ts`). Nothing is stored there: reasoning comes back encrypted, to be sent again. Never changes
 * `request`.
 */
export function buildResponses(request: InferenceRequest, attempt: Attempt): DialectCall {
  const dropped: string[] = []
  const drop = dropsInto(dropped)
  const { quirks } = attempt.provider
  const rules = {
    anyFormat: quirks.reasoningField === 'reasoning',
    takesText: quirks.responsesExtensions !== false,
  }
  const own = bodyIn(request, 'responses')
  const body = own ? forwardedBody(own, rules, drop) : neutralBody(request, rules, drop)
  applyDelegated(body, request)
  body.model = attempt.endpoint.upstreamId
  if (request.stream) body.stream = true
  else if (body.stream !== undefined) body.stream = false
  body.store = false
  const bound = attempt.outputBound ?? request.maxOutputTokens
  if (bound !== undefined) body.max_output_tokens = bound
  applyReasoning(body, request, attempt, drop)
  applyRoles(body, attempt)
  // `fast` is the gateway's other name for `priority`.
  if (body.service_tier === 'fast') body.service_tier = 'priority'
  if (quirks.xSearch === true) applySearchFilter(body)
  leaveOutUnsupported(body, attempt, drop)
  applyInclude(body, attempt)
  return defined({
    path: '/responses',
    headers: {},
    body,
    dropped,
    optionalParts: optionalPartsOf(body, request),
  })
}

/** A null means the same as an absent field, and some servers refuse it. */
function forwardedBody(body: JsonObject, rules: ReplayRules, drop: Drop): JsonObject {
  const forwarded = Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && !NOT_SENT.has(name)),
  )
  // A template in the caller's own account at the provider.
  if (forwarded.prompt !== undefined) drop('prompt')
  delete forwarded.prompt
  if (Array.isArray(forwarded.input)) {
    forwarded.input = forwarded.input.flatMap((item: unknown) => forwardedItem(item, rules, drop))
  }
  return forwarded
}

/** An item of a former answer; none if another provider or the gateway itself produced it. */
function forwardedItem(item: unknown, rules: ReplayRules, drop: Drop): unknown[] {
  if (!isObject(item) || !isString(item.type)) return [item]
  const written =
    item.type === ITEM.reasoning
      ? sendable(item, rules)
      : (item.type.startsWith('openrouter:') && !rules.anyFormat) || isOurs(item)
        ? []
        : [rules.anyFormat ? item : withoutSignature(item, drop)]
  if (written.length === 0) drop(`input.${item.type}`)
  return written
}

/** OpenAI takes back what it did with an MCP server, and needs it to know that an approved call was made. */
const isOurs = (item: JsonObject): boolean =>
  /^mcp_/.test(String(item.type)) ? isOwnItemId(item.id) : formerCallOf(item) !== null

/** Callers send back a call of Gemini with its signature, and OpenAI rejects fields that it does not know. */
function withoutSignature(item: JsonObject, drop: Drop): JsonObject {
  if (item.type !== ITEM.functionCall || item.extra_content === undefined) return item
  const { extra_content, ...own } = item
  drop(`input.${item.type}.extra_content`)
  return own
}

function applyRoles(body: JsonObject, { provider }: Attempt): void {
  if (provider.quirks.developerRole !== false || !Array.isArray(body.input)) return
  body.input = body.input.map(withSystemRole)
}

/** xAI has no field for the filter: it is the settings of its own tool. */
function applySearchFilter(body: JsonObject): void {
  const { x_search_filter: filter, ...rest } = body
  if (!isObject(filter)) return
  delete body.x_search_filter
  const tools = asList(rest.tools)
  const isSearch = (tool: unknown): tool is JsonObject => isObject(tool) && tool.type === X_SEARCH
  const given = Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== null))
  body.tools = [
    ...tools.filter((tool) => !isSearch(tool)),
    { ...tools.find(isSearch), ...given, type: X_SEARCH },
  ]
}
const X_SEARCH = 'x_search'

function leaveOutUnsupported(body: JsonObject, { endpoint, provider }: Attempt, drop: Drop): void {
  const { supportedParameters: supported } = endpoint
  const unsupported = [
    ...(provider.quirks.responsesExtensions === false ? EXTENSIONS : []),
    ...TUNING.filter((name) => supported !== null && !supported.includes(name)),
  ]
  for (const name of unsupported) {
    if (body[name] === undefined) continue
    delete body[name]
    drop(name)
  }
  if (supported !== null && !supported.includes('top_logprobs') && !supported.includes('logprobs')) {
    leaveOutLogprobs(body, drop)
  }
}

function leaveOutLogprobs(body: JsonObject, drop: Drop): void {
  if (!Array.isArray(body.include) || !body.include.includes(LOGPROBS)) return
  body.include = body.include.filter((name: unknown) => name !== LOGPROBS)
  drop('logprobs')
}

/** OpenAI rejects encrypted reasoning (400) for models that do not reason. */
function applyInclude(body: JsonObject, attempt: Attempt): void {
  const include = asList(body.include)
  const wanted =
    reasons(body, attempt) && !include.includes(ENCRYPTED_REASONING)
      ? [...include, ENCRYPTED_REASONING]
      : include
  if (wanted.length > 0) body.include = wanted
  else delete body.include
}
