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

/** Patterns are searched in so many characters from the beginning; their time is linear in them. */
const MOST_SEARCHED = 100_000

/** Rules that take everything. */
const EVERYTHING: CompiledRules = { needsContent: false, takes: () => true }

/**
 * Compiles the rules of a destination: all groups must hold, and `logic` joins the rules of one. A rule on an absent value
 * does not hold, unless its operator begins with `not_`. Texts are compared with their case.
 */
export function compileRules(rules: FilterRules | null): CompiledRules {
  if (rules === null || rules.enabled === false) return EVERYTHING
  const groups = rules.groups.map(compiledGroup)
  return {
    needsContent: rules.groups.some((group) => group.rules.some(({ field }) => isContent(field))),
    takes: (facts) => groups.every((holds) => holds(facts)),
  }
}

/** The fields that only a destination without `privacy_mode` has. */
const isContent = (field: RuleField): boolean => field === 'input' || field === 'output'

function compiledGroup({ logic, rules }: Group): (facts: RuleFacts) => boolean {
  const compiled = rules.map(compiledRule)
  return logic === 'or'
    ? (facts) => compiled.some((holds) => holds(facts))
    : (facts) => compiled.every((holds) => holds(facts))
}

function compiledRule({ field, operator, value }: Rule): (facts: RuleFacts) => boolean {
  const test = testOf(operator, value)
  const isNegated = operator.startsWith('not_')
  return (facts) => {
    const fact = facts[field]
    return fact === null ? isNegated : test(fact)
  }
}

type Test = (fact: string | number) => boolean

/** The test of a value that is there. */
function testOf(operator: Rule['operator'], value: Rule['value']): Test {
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
      return textTest(operator, value)
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

function textTest(operator: TextOperator, value: Rule['value']): Test {
  if (typeof value !== 'string') return () => operator === 'not_contains'
  const search = operator === 'regex' ? RE2JS.compile(value) : null
  const isTrue: Readonly<Record<TextOperator, (text: string) => boolean>> = {
    contains: (text) => text.includes(value),
    not_contains: (text) => !text.includes(value),
    starts_with: (text) => text.startsWith(value),
    ends_with: (text) => text.endsWith(value),
    regex: (text) => search?.matcher(text.slice(0, MOST_SEARCHED)).find() === true,
  }
  const holds = isTrue[operator]
  return (fact) => (typeof fact === 'string' ? holds(fact) : operator === 'not_contains')
}
