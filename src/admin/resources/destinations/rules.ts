import { RE2JS } from 're2js'
import { badRequest } from '../../../core/errors.ts'
import type { FilterRules } from '../../../db/filter-rules.ts'

type Rule = FilterRules['groups'][number]['rules'][number]

const NUMERIC = new Set<Rule['field']>(['total_cost', 'total_tokens', 'prompt_tokens', 'completion_tokens'])
const COMPARISONS = new Set<Rule['operator']>(['gt', 'gte', 'lt', 'lte'])
const OF_TEXTS = new Set<Rule['operator']>(['contains', 'not_contains', 'regex', 'starts_with', 'ends_with'])

/**
 * Throws a `GatewayError` 400 that names the rule which could never be tested. `isPrivate`: the destination gets no content.
 */
export function checkRules(rules: FilterRules | null | undefined, isPrivate: boolean): void {
  for (const [index, group] of (rules?.groups ?? []).entries()) {
    for (const [at, rule] of group.rules.entries()) {
      const place = `filter_rules.groups[${index}].rules[${at}]`
      checkRule(rule, place)
      if (isPrivate && rules?.enabled !== false && CONTENT.has(rule.field))
        throw contentRule(rule.field, place)
    }
  }
}

const CONTENT = new Set<Rule['field']>(['input', 'output'])

const contentRule = (field: Rule['field'], place: string) =>
  badRequest(
    `a destination with privacy_mode has no ${field}, so this rule would never hold: leave it out, or set privacy_mode to false`,
    `${place}.field`,
  )

function checkRule({ field, operator, value }: Rule, place: string): void {
  if (operator === 'exists' || operator === 'not_exists') {
    if (value === undefined) return
    throw badRequest(`the operator ${operator} takes no value`, `${place}.value`)
  }
  const isNumeric = NUMERIC.has(field)
  if (isNumeric ? OF_TEXTS.has(operator) : COMPARISONS.has(operator)) {
    throw badRequest(
      `the operator ${operator} is for ${isNumeric ? 'texts' : 'numbers'}, and ${field} is a ${isNumeric ? 'number' : 'text'}`,
      `${place}.operator`,
    )
  }
  const expected = isNumeric ? 'number' : 'string'
  if (typeof value !== expected) {
    throw badRequest(`must be a ${isNumeric ? 'number' : 'text'} for ${field}`, `${place}.value`)
  }
  if (operator === 'regex') checkPattern(String(value), `${place}.value`)
}

function checkPattern(pattern: string, path: string): void {
  try {
    RE2JS.compile(pattern)
  } catch {
    throw badRequest('is not a pattern in RE2 syntax, which has neither lookaround nor backreferences', path)
  }
}
