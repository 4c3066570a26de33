import { badRequest } from '../../core/errors.ts'
import type { JsonObject } from '../../core/events.ts'
import type { Offered } from '../listing.ts'

/** Models in the form of Anthropic's API, for its clients: those send the header `anthropic-version`. */

const DEFAULT_LIMIT = 20
const MOST = 1_000

export const anthropicModel = (offered: Offered): JsonObject => {
  const { model, contextLength, top } = offered
  return {
    type: 'model',
    id: model.id,
    display_name: model.name,
    created_at: new Date(model.created * 1_000).toISOString(),
    max_input_tokens: contextLength === 0 ? null : contextLength,
    max_tokens: top.record.maxCompletionTokens,
    capabilities: null,
    lifecycle: 'active',
    line: null,
    deprecated_at: null,
    retires_at: null,
  }
}

/**
 * One page, newest models first. It follows the model `after_id`, or ends right before the model `before_id`. Throws a
 * `GatewayError` 400.
 */
export function anthropicPage(models: readonly Offered[], query: URLSearchParams): JsonObject {
  const sorted = models.toSorted(
    (a, b) => b.model.created - a.model.created || (a.model.id < b.model.id ? -1 : 1),
  )
  const limit = limitIn(query.get('limit'))
  const [after, before] = [query.get('after_id'), query.get('before_id')]
  if (after !== null && before !== null) {
    throw badRequest('after_id and before_id exclude each other: send one of them')
  }
  const end = before === null ? undefined : placeOf(before, 'before_id', sorted)
  const start =
    end === undefined
      ? after === null
        ? 0
        : placeOf(after, 'after_id', sorted) + 1
      : Math.max(0, end - limit)
  const page = sorted.slice(start, end ?? start + limit)
  return {
    data: page.map(anthropicModel),
    has_more: end === undefined ? start + page.length < sorted.length : start > 0,
    first_id: page[0]?.model.id ?? null,
    last_id: page.at(-1)?.model.id ?? null,
  }
}

function limitIn(written: string | null): number {
  if (written === null) return DEFAULT_LIMIT
  const limit = /^\d{1,4}$/.test(written) ? Number(written) : 0
  if (limit >= 1 && limit <= MOST) return limit
  throw badRequest(`The query parameter limit must be an integer from 1 to ${MOST}`)
}

function placeOf(id: string, name: string, models: readonly Offered[]): number {
  const at = models.findIndex(({ model }) => model.id === id)
  if (at >= 0) return at
  throw badRequest(`The query parameter ${name} must be the id of a model of a page before`)
}
