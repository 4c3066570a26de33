import { numberOf } from './filter.ts'
import type { Offered } from './listing.ts'
import type { PageQuery } from './query/schema.ts'
import { modelJson } from './view.ts'

const DEFAULT_LIMIT = 500

export interface ModelPage {
  models: readonly Offered[]
  /** `{object, data, links: {next}, total_count}`. */
  json(): string
}

/** One page of `models`. The next page has the same query and another offset. */
export function pageOf(
  models: readonly Offered[],
  query: PageQuery,
  request: Request,
  basePath: string,
): ModelPage {
  const offset = numberOf(query.offset) ?? 0
  const limit = numberOf(query.limit) ?? DEFAULT_LIMIT
  const shown = models.slice(offset, offset + limit)
  return {
    models: shown,
    json() {
      const next = offset + limit < models.length ? nextPath(request, basePath, offset + limit, limit) : null
      const data = shown.map((offered) => modelJson(offered, basePath)).join(',')
      return `{"object":"list","data":[${data}],"links":{"next":${JSON.stringify(next)}},"total_count":${models.length}}`
    },
  }
}

function nextPath(request: Request, basePath: string, offset: number, limit: number): string {
  const url = new URL(request.url)
  url.searchParams.set('offset', String(offset))
  url.searchParams.set('limit', String(limit))
  // The same routes are below `/v1` too: the part after it is the operation.
  const path = url.pathname.slice(url.pathname.lastIndexOf('/v1/') + '/v1'.length)
  return `${basePath}${path}${url.search}`
}
