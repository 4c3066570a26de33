import { type Static, Type as t } from '@sinclair/typebox'
import { badRequest } from '../core/errors.ts'
import { hasItsDay } from '../http/instant.ts'
import { oneOf, openObject, optional } from './fields.ts'

/** `plugins[]`: one form per id. The bounds hold for disabled plugins too. */

const enabled = optional(t.Boolean({ description: 'Default true' }))
const modelPatterns = optional(
  t.Array(t.String({ maxLength: 1024 }), { maxItems: 1024, description: 'Model ids; * stands for anything' }),
)
const domains = optional(t.Array(t.String(), { description: 'A leading *. stands for any subdomain' }))
const handles = optional(t.Array(t.String(), { maxItems: 10 }))
const atLeastOne = optional(t.Integer({ minimum: 1 }))

const routerFields = {
  enabled,
  allowed_models: modelPatterns,
  excluded_models: modelPatterns,
  cost_quality_tradeoff: optional(t.Integer({ minimum: 0, maximum: 10, deprecated: true })),
  cost_tier: optional(oneOf(['low', 'medium', 'high', 'xhigh', 'max'])),
}

const date = optional(t.String({ description: 'A date, such as 2026-01-31' }))

export const xSearch = openObject(
  {
    allowed_x_handles: handles,
    excluded_x_handles: handles,
    from_date: date,
    to_date: date,
    enable_image_understanding: optional(t.Boolean()),
    enable_video_understanding: optional(t.Boolean()),
  },
  { description: 'allowed_x_handles and excluded_x_handles exclude each other' },
)

const web = openObject({
  id: t.Literal('web'),
  enabled,
  engine: optional(
    oneOf(['native', 'auto', 'exa', 'parallel', 'perplexity', 'tavily', 'brave', 'firecrawl', 'searxng']),
  ),
  max_results: optional(
    t.Integer({ minimum: 1, maximum: 25, description: 'Default 5; at most 20 with perplexity' }),
  ),
  max_uses: atLeastOne,
  include_domains: domains,
  exclude_domains: domains,
  mode: optional(t.String()),
  search_prompt: optional(t.String()),
  user_location: optional(
    openObject({
      type: optional(t.Literal('approximate')),
      city: optional(t.String()),
      country: optional(t.String()),
      region: optional(t.String()),
      timezone: optional(t.String()),
    }),
  ),
  x_search: optional(xSearch),
})

const webFetch = openObject({
  id: t.Literal('web-fetch'),
  enabled,
  allowed_domains: domains,
  blocked_domains: domains,
  max_content_tokens: atLeastOne,
  max_uses: atLeastOne,
})

const fusion = openObject({
  id: t.Literal('fusion'),
  enabled,
  analysis_models: optional(t.Array(t.String(), { minItems: 1, maxItems: 8 })),
  max_tool_calls: optional(t.Integer({ minimum: 1, maximum: 16, description: 'Default 4' })),
  model: optional(t.String()),
  preset: optional(t.String()),
  tools: optional(t.Array(openObject({ type: t.String() }), { maxItems: 8 })),
})

/** OpenRouter's has no options. */
const moderation = openObject({
  id: t.Literal('moderation'),
  enabled,
  model: optional(t.String({ description: 'A moderation model; with `rubric` any model of text' })),
  rubric: optional(t.String({ maxLength: 20_000, description: 'What the model flags' })),
  blocked: optional(
    t.Array(t.String({ minLength: 1, maxLength: 200 }), {
      maxItems: 1000,
      description: 'Words and phrases of up to 8 words, which are flagged without a model',
    }),
  ),
  apply_to: optional(oneOf(['input', 'output', 'both'])),
  on_error: optional(oneOf(['block', 'allow'])),
})

const paretoRouter = openObject({
  id: t.Literal('pareto-router'),
  enabled,
  max_price: optional(t.Number({ minimum: 0, description: 'USD per million prompt tokens' })),
  min_coding_score: optional(t.Number({ minimum: 0, maximum: 1 })),
  price_source: optional(t.String()),
})

export const plugin = t.Union([
  openObject({ id: t.Literal('auto-router'), ...routerFields, pin_model: optional(t.Boolean()) }),
  openObject({ id: t.Literal('auto-beta-router'), ...routerFields }),
  openObject({ id: t.Literal('context-compression'), enabled, engine: optional(t.Literal('middle-out')) }),
  openObject({
    id: t.Literal('file-parser'),
    enabled,
    pdf: optional(
      openObject({ engine: optional(oneOf(['mistral-ocr', 'cloudflare-ai', 'native', 'pdf-text'])) }),
    ),
  }),
  fusion,
  moderation,
  paretoRouter,
  openObject({
    id: t.Literal('response-healing'),
    enabled,
    retry: optional(
      t.Integer({
        minimum: 0,
        maximum: 1,
        description: '1: the model is asked once more for an answer that cannot be repaired. Default 0',
      }),
    ),
  }),
  openObject({ id: t.Literal('switchyard-router'), enabled, algorithm: optional(t.String()) }),
  web,
  webFetch,
])

export type Plugin = Static<typeof plugin>

const PERPLEXITY_MAX_RESULTS = 20

/** What the schema of a plugin cannot say: rules between two of its fields. They hold for disabled plugins too. */
export function checkPlugins(plugins: readonly Plugin[]): void {
  for (const [i, plugin] of plugins.entries()) {
    if (plugin.id !== 'web') continue
    const { engine, max_results, x_search } = plugin
    if (engine === 'perplexity' && max_results && max_results > PERPLEXITY_MAX_RESULTS) {
      throw badRequest(
        `must be a whole number from 1 to ${PERPLEXITY_MAX_RESULTS} with the engine "perplexity", not ${max_results}`,
        `plugins[${i}].max_results`,
      )
    }
    if (x_search) checkXSearch(x_search, `plugins[${i}].x_search`)
  }
}

const DATE_LENGTH = 'YYYY-MM-DD'.length

/** The rules of a search on X that its schema cannot express. */
export function checkXSearch(search: Static<typeof xSearch>, path: string): void {
  const { allowed_x_handles, excluded_x_handles, from_date, to_date } = search
  if (allowed_x_handles?.length && excluded_x_handles?.length) {
    throw badRequest('allowed_x_handles and excluded_x_handles exclude each other: send one of them', path)
  }
  for (const [name, day] of [
    ['from_date', from_date],
    ['to_date', to_date],
  ] as const) {
    if (typeof day === 'string' && (day.length !== DATE_LENGTH || !hasItsDay(day)))
      throw badRequest('must be a date that exists, such as 2026-01-31', `${path}.${name}`)
  }
  if (from_date && to_date && from_date > to_date) {
    throw badRequest('must not be after to_date', `${path}.from_date`)
  }
}
