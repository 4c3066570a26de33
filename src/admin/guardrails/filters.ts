import { RE2JS } from 're2js'
import { badRequest } from '../../core/errors.ts'
import type { ContentFilter, ContentFilterBuiltin } from './filters-schema.ts'

interface Filters {
  content_filters?: readonly ContentFilter[] | null
  content_filter_builtins?: readonly ContentFilterBuiltin[] | null
}

/** Throws a `GatewayError` 400 that names the filter which could not work. */
export function checkFilters({ content_filters, content_filter_builtins }: Filters): void {
  for (const [index, { pattern }] of (content_filters ?? []).entries()) {
    const problem = patternProblem(pattern)
    if (problem !== null) {
      throw badRequest(
        `invalid_regex_pattern: ${problem}. Patterns are in RE2 syntax: neither lookaround nor backreferences`,
        `content_filters[${index}].pattern`,
      )
    }
  }
  for (const [index, { slug }] of (content_filter_builtins ?? []).entries()) {
    if (slug !== 'person-name') continue
    throw badRequest(
      'person-name needs a model or a list of names, and this gateway has none: names cannot be told from other words by a pattern',
      `content_filter_builtins[${index}].slug`,
    )
  }
}

function patternProblem(pattern: string): string | null {
  try {
    RE2JS.compile(pattern)
    return null
  } catch (error) {
    return error instanceof Error ? error.message : 'it cannot be read'
  }
}
