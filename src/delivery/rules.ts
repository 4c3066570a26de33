import { RE2JS } from 're2js'
import type { FilterRules } from '../db/filter-rules.ts'

type Group = FilterRules['groups'][number]
type Rule = Group['rules'][number]
type RuleField = Rule['field']

/** What rules are tested on. Null: the generation has no such value, or its content may not be read. */
export type RuleFacts = Readonly<Record<RuleField, string | number | null>>

export interface CompiledRules {
  /** Some rule reads the prompt or the answer. */
  readonly needsContent: boolean
  takes(facts: RuleFacts): boolean
}

/** Patterns are searched in so many characters from the beginning, */
const MOST_SEARCHED = 100_000
/** and in fewer if all of them together would take more steps: a step at each character, some 100 ns each. */
const MOST_STEPS = 20_000_000

/** Rules that take everything. */
export const EVERYTHING: CompiledRules = { needsContent: false, takes: () => true }

/**
 * Compiles the rules of a destination: all groups must hold, and `logic` joins the rules of one. A rule on an absent value
 * does not hold, unless its operator begins with `not_`. Texts are compared with their case.
 */
export function compileRules(rules: FilterRules | null): CompiledRules {
  if (rules === null || rules.enabled === false) return EVERYTHING
  const patterns = new Map<string, RE2JS>()
  for (const { rules: list } of rules.groups)
    for (const { operator, value } of list)
      if (operator === 'regex') patterns.set(String(value), RE2JS.compile(String(value)))
  const steps = [...patterns.values()].reduce((sum, pattern) => sum + pattern.programSize(), 1)
  const searched = Math.min(MOST_SEARCHED, Math.ceil(MOST_STEPS / steps))
  const find: Find = (pattern, text) =>
    patterns.get(pattern)?.matcher(text.slice(0, searched)).find() === true
  const groups = rules.groups.map((group) => compiledGroup(group, find))
  return {
    needsContent: rules.groups.some((group) => group.rules.some(({ field }) => isContent(field))),
    takes: (facts) => groups.every((holds) => holds(facts)),
  }
}

/** The fields that only a destination without `privacy_mode` has. */
const isContent = (field: RuleField): boolean => field === 'input' || field === 'output'

/** True if the pattern is in the text. */
type Find = (pattern: string, text: string) => boolean

function compiledGroup({ logic, rules }: Group, find: Find): (facts: RuleFacts) => boolean {
  const compiled = rules.map((rule) => compiledRule(rule, find))
  return logic === 'or'
    ? (facts) => compiled.some((holds) => holds(facts))
    : (facts) => compiled.every((holds) => holds(facts))
}

function compiledRule({ field, operator, value }: Rule, find: Find): (facts: RuleFacts) => boolean {
  const test = testOf(operator, value, find)
  const isNegated = operator.startsWith('not_')
  return (facts) => {
    const fact = facts[field]
    return fact === null ? isNegated : test(fact)
  }
}

type Test = (fact: string | number) => boolean

/** The test of a value that is there. */
function testOf(operator: Rule['operator'], value: Rule['value'], find: Find): Test {
  switch (operator) {
    case 'exists':
      return () => true
    case 'not_exists':
      return () => false
    case 'equals':
      return (fact) => fact === value
    case 'not_equals':
      return (fact) => fact !== value
    case 'gt':
    case 'gte':
    case 'lt':
    case 'lte':
      return comparison(operator, value)
    default:
      return textTest(operator, value, find)
  }
}

function comparison(operator: 'gt' | 'gte' | 'lt' | 'lte', value: Rule['value']): Test {
  const isTrue = {
    gt: (fact: number, bound: number) => fact > bound,
    gte: (fact: number, bound: number) => fact >= bound,
    lt: (fact: number, bound: number) => fact < bound,
    lte: (fact: number, bound: number) => fact <= bound,
  }[operator]
  return (fact) => typeof fact === 'number' && typeof value === 'number' && isTrue(fact, value)
}

type TextOperator = 'contains' | 'not_contains' | 'regex' | 'starts_with' | 'ends_with'

function textTest(operator: TextOperator, value: Rule['value'], find: Find): Test {
  if (typeof value !== 'string') return () => operator === 'not_contains'
  const isTrue: Readonly<Record<TextOperator, (text: string) => boolean>> = {
    contains: (text) => text.includes(value),
    not_contains: (text) => !text.includes(value),
    starts_with: (text) => text.startsWith(value),
    ends_with: (text) => text.endsWith(value),
    regex: (text) => find(value, text),
  }
  const holds = isTrue[operator]
  return (fact) => (typeof fact === 'string' ? holds(fact) : operator === 'not_contains')
}
