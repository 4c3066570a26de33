import { RE2JS } from 're2js'
import { badRequest } from '../../../core/errors.ts'
import type { ContentFilter, ContentFilterBuiltin } from '../../../db/content-filters.ts'

interface Filters {
  content_filters?: readonly ContentFilter[] | null
  content_filter_builtins?: readonly ContentFilterBuiltin[] | null
}

/** Of all patterns together, once compiled: a repetition such as `.{1000}` is a thousand of them. */
const MOST_INSTRUCTIONS = 300_000

/** Throws a `GatewayError` 400 that names the filter which could not work. `knowsNames`: there is a list of people. */
export function checkFilters(
  { content_filters, content_filter_builtins }: Filters,
  knowsNames: boolean,
): void {
  let instructions = 0
  for (const [index, { pattern }] of (content_filters ?? []).entries()) {
    const read = readPattern(pattern)
    const path = `content_filters[${index}].pattern`
    if ('problem' in read) {
      throw badRequest(
        `invalid_regex_pattern: ${read.problem}. Patterns are in RE2 syntax: neither lookaround nor backreferences`,
        path,
      )
    }
    instructions += read.instructions
    if (instructions > MOST_INSTRUCTIONS) {
      throw badRequest(
        `the patterns up to this one compile to more than ${MOST_INSTRUCTIONS.toLocaleString('en')} instructions, the limit of a guardrail: repeat less`,
        path,
      )
    }
  }
  for (const [index, { slug, scan_scope, apply_to }] of (content_filter_builtins ?? []).entries()) {
    if (scan_scope === 'user_only' && apply_to === 'output') {
      throw badRequest(
        'user_only looks at what users wrote, and apply_to is output, which no user wrote: it would find nothing',
        `content_filter_builtins[${index}].scan_scope`,
      )
    }
    if (slug !== 'person-name' || knowsNames) continue
    throw badRequest(
      'person-name needs a list of names, which this gateway lacks: the operator sets a file of names with SLUICE_PERSON_NAMES. No pattern distinguishes names from other words',
      `content_filter_builtins[${index}].slug`,
    )
  }
}

function readPattern(pattern: string): { problem: string } | { instructions: number } {
  try {
    return { instructions: RE2JS.compile(pattern).programSize() }
  } catch (error) {
    return { problem: error instanceof Error ? error.message : 'it cannot be read' }
  }
}
