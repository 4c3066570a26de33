import { badRequest } from '../../../core/errors.ts'
import type { DimensionFilter } from '../../../ledger/usage-sums.ts'
import {
  CALLER_LABELS,
  DIMENSION_LABELS,
  dimensionNamed,
  isMetric,
  OPERATORS,
  type Operator,
} from './metrics.ts'
import type { AnalyticsQuery, AnalyticsRow } from './schema.ts'

/** Whether a row of the answer passes a filter on one of its metrics. */
export type RowTest = (row: AnalyticsRow) => boolean

type Filter = NonNullable<AnalyticsQuery['filters']>[number]
type Value = Filter['value']

/** Filters on dimensions go into SQL, those on metrics hold for the sums. Throws a 400 that names the filter. */
export function readFilters({ filters = [], metrics }: AnalyticsQuery): {
  filters: DimensionFilter[]
  rowTests: RowTest[]
} {
  const ofDimensions: DimensionFilter[] = []
  const rowTests: RowTest[] = []
  for (const [index, filter] of filters.entries()) {
    const place = `filters[${index}]`
    if (dimensionNamed(filter.field) !== null) ofDimensions.push(dimensionFilter(filter, place))
    else if (isMetric(filter.field) && metrics.includes(filter.field)) rowTests.push(rowTest(filter, place))
    else {
      const known = [...Object.keys(DIMENSION_LABELS), ...Object.keys(CALLER_LABELS), ...metrics].join(', ')
      throw badRequest(`must be a dimension or a metric of the query: ${known}`, `${place}.field`)
    }
  }
  return { filters: ofDimensions, rowTests }
}

function dimensionFilter({ field, operator, value }: Filter, place: string): DimensionFilter {
  const dimension = dimensionNamed(field)
  if (dimension === null) throw badRequest('must be a dimension', `${place}.field`)
  const isNegated = operator === 'neq' || operator === 'not_in'
  if (!isNegated && operator !== 'eq' && operator !== 'in') {
    throw badRequest(`must be one of eq, neq, in, not_in for the dimension ${field}`, `${place}.operator`)
  }
  const values = valuesOf(value, operator, place).map(String)
  if (field === 'is_byok' && !values.every((one) => one === 'true' || one === 'false')) {
    throw badRequest('must be "true" or "false" for the dimension is_byok', `${place}.value`)
  }
  return { dimension, values, isNegated }
}

function rowTest({ field, operator, value }: Filter, place: string): RowTest {
  if (!isOperator(operator)) throw badRequest('is not known', `${place}.operator`)
  const numbers = valuesOf(value, operator, place).map(Number)
  if (numbers.some(Number.isNaN))
    throw badRequest(`must be a number for the metric ${field}`, `${place}.value`)
  const [bound = 0] = numbers
  const passes = TESTS[operator]
  return (row) => {
    const found = row[field]
    return typeof found === 'number' && passes(found, bound, numbers)
  }
}

const isOperator = (name: string): name is Operator => Object.hasOwn(OPERATORS, name)

const TESTS: Readonly<Record<Operator, (found: number, bound: number, all: readonly number[]) => boolean>> = {
  eq: (found, bound) => found === bound,
  neq: (found, bound) => found !== bound,
  in: (found, _, all) => all.includes(found),
  not_in: (found, _, all) => !all.includes(found),
  gt: (found, bound) => found > bound,
  gte: (found, bound) => found >= bound,
  lt: (found, bound) => found < bound,
  lte: (found, bound) => found <= bound,
}

/** A list if the operator takes one, else a single value. */
function valuesOf(value: Value, operator: string, place: string): (string | number)[] {
  const takesList = operator === 'in' || operator === 'not_in'
  if (Array.isArray(value) === takesList) return [value].flat()
  throw badRequest(
    takesList ? `must be a list for ${operator}` : `must be a single value for ${operator}`,
    `${place}.value`,
  )
}
