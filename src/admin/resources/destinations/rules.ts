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
  let steps = 0
  for (const [index, group] of (rules?.groups ?? []).entries()) {
    for (const [at, rule] of group.rules.entries()) {
      const place = `filter_rules.groups[${index}].rules[${at}]`
      checkRule(rule, place)
      if (rule.operator === 'regex') steps += stepsOf(String(rule.value), `${place}.value`)
      if (steps > MOST_STEPS) throw badRequest(TOO_LARGE, `${place}.value`)
      if (isPrivate && rules?.enabled !== false && CONTENT.has(rule.field))
        throw contentRule(rule.field, place)
    }
  }
}

/** Of all patterns of a destination: each one may cost a step at each character. */
const MOST_STEPS = 5_000
const TOO_LARGE = `the patterns of a destination have ${MOST_STEPS} steps together at most, and this one has one too many: a character is a step, and {n} repeats n times`

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
}

/** The size of a pattern. */
function stepsOf(pattern: string, path: string): number {
  try {
    return RE2JS.compile(pattern).programSize()
  } catch {
    throw badRequest('is not a pattern in RE2 syntax, which has neither lookaround nor backreferences', path)
  }
}
