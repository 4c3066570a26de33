import type { Caller } from '../../core/caller.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'

/**
 * Fields of a body that do not change a provider's reply: its form, and labels of the request. docs/caching.md lists
 * them.
 */
const ASIDE = new Set([
  'stream',
  'stream_options',
  'store',
  'usage',
  'user',
  'metadata',
  'session_id',
  'trace',
])

type Asked = Pick<RoutedRequest, 'apiType' | 'body'> & {
  readonly headers?: Readonly<Record<string, string>>
}

/**
 * The SHA-256 of all that decides what the answer is: the same workspace, API, rules of guardrails, and the body as it
 * is after presets, files and content filters. What a key of another workspace asks is never the same.
 */
export function cacheKey({ apiType, body, headers }: Asked, { key, workspace }: Caller): string {
  const rules = (key.guardrails ?? []).map(({ rules, id }) => rules ?? id).filter((each) => each !== '')
  return new Bun.CryptoHasher('sha256')
    .update(canonical([workspace.id, apiType, rules.sort(), headers ?? {}, essence(body)]))
    .digest('hex')
}

/** At the top level null is as good as absent. */
const essence = (body: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(body).filter(([name, value]) => value !== null && !ASIDE.has(name)))

/**
 * JSON text that is the same whatever the order of fields. Under the name `properties` it stays as it is: the order
 * of a JSON schema is the order in which models write.
 */
function canonical(value: unknown, isOrdered = false): string {
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item)).join()}]`
  if (!isObject(value)) return JSON.stringify(value) ?? 'null'
  const names = Object.keys(value)
  if (!isOrdered) names.sort()
  const fields = names.map(
    (name) => `${JSON.stringify(name)}:${canonical(value[name], name === 'properties' && !isOrdered)}`,
  )
  return `{${fields.join()}}`
}
