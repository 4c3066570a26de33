import type { Caller } from '../../core/caller.ts'
import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'
import type { RoutedRequest } from '../../core/request.ts'
import { words } from '../../core/words.ts'

/**
 * Fields that do not affect the content of a reply: its form, and labels of the request. docs/caching.md lists them.
 */
const IGNORED_FIELDS = new Set(words('stream stream_options store usage user metadata session_id trace'))

type KeyedRequest = Pick<RoutedRequest, 'apiType' | 'body'> & {
  readonly headers?: Readonly<Record<string, string>>
  readonly plugins?: readonly JsonObject[]
}

/**
 * The SHA-256 of everything that determines the reply: workspace, API, guardrail rules, and the body after presets, files
 * and content filters.
 */
export function cacheKey(
  { apiType, body, headers, plugins }: KeyedRequest,
  { key, workspace }: Caller,
): string {
  const rules = (key.guardrails ?? []).map(({ rules, id }) => rules ?? id).filter((each) => each !== '')
  return new Bun.CryptoHasher('sha256')
    .update(canonical([workspace.id, apiType, rules.sort(), headers ?? {}, plugins ?? [], essence(body)]))
    .digest('hex')
}

/** At the top level, null is equivalent to an absent field. */
const essence = (body: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(body).filter(([name, value]) => value !== null && !IGNORED_FIELDS.has(name)),
  )

/**
 * JSON text with sorted fields. The fields of `properties` keep their order: models generate fields in the order of a JSON
 * schema.
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
