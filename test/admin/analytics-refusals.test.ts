import { API_KEY, MANAGEMENT_KEY } from '../gateway.ts'
import { runScenarios, type Scenario } from '../scenario.ts'
import { administration } from './administration.ts'

const ALL = { start: '2026-01-01T00:00:00Z', end: '2026-08-01T00:00:00Z' }
const admin = administration()

const refused = (name: string, body: unknown, ...contains: string[]): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/analytics/query',
  key: MANAGEMENT_KEY,
  body,
  status: 400,
  contains,
})
const filter = (field: string, operator: string, value: unknown) => ({
  metrics: ['request_count'],
  filters: [{ field, operator, value }],
})
runScenarios('analytics', () => admin.handler, [
  { name: 'meta without a key', path: '/v1/analytics/meta', status: 401 },
  {
    name: 'meta with an inference key',
    path: '/v1/analytics/meta',
    key: API_KEY,
    status: 403,
    contains: ['Only management keys'],
  },
  { name: 'a query without a key', method: 'POST', path: '/v1/analytics/query', body: '{', status: 401 },
  {
    name: 'a query with an inference key',
    method: 'POST',
    path: '/v1/analytics/query',
    key: API_KEY,
    body: '{',
    status: 403,
  },
  refused('no metric', { metrics: [] }, 'metrics'),
  refused('an unknown metric', { metrics: ['latency'] }, 'metrics[0]', 'request_count'),
  refused(
    'an unknown dimension',
    { metrics: ['request_count'], dimensions: ['country'] },
    'dimensions[0]',
    'model',
  ),
  refused(
    'three dimensions',
    { metrics: ['request_count'], dimensions: ['model', 'provider', 'user_id'] },
    'dimensions',
  ),
  refused(
    'minutes',
    { metrics: ['request_count'], granularity: 'minute' },
    'granularity',
    'hour, day, week, month',
  ),
  refused('an unknown field', { metrics: ['request_count'], group: 1 }, 'group'),
  refused('too many rows', { metrics: ['request_count'], limit: 10_001 }, 'limit'),
  refused(
    'a date that does not exist',
    { metrics: ['request_count'], time_range: { start: '2026-02-30T00:00:00+02:00', end: ALL.end } },
    'time_range.start',
    'ISO 8601',
  ),
  refused(
    'a date for an instant',
    { metrics: ['request_count'], time_range: { start: '2026-01-01', end: ALL.end } },
    'time_range.start',
    'ISO 8601',
  ),
  refused(
    'an end before the start',
    { metrics: ['request_count'], time_range: { start: ALL.end, end: ALL.start } },
    'time_range.end',
  ),
  refused(
    'an order by an unknown field',
    { metrics: ['request_count'], order_by: { field: 'model', direction: 'asc' } },
    'order_by.field',
    'request_count',
  ),
  refused('a filter on an unknown field', filter('total_usage', 'gt', 1), 'filters[0].field'),
  refused('a list for one value', filter('model', 'eq', ['a/x']), 'filters[0].value'),
  refused('one value for a list', filter('model', 'in', 'a/x'), 'filters[0].value'),
  refused('a comparison of names', filter('model', 'gt', 'a'), 'filters[0].operator'),
  refused('a name for a number', filter('request_count', 'gt', 'many'), 'filters[0].value'),
  refused('a boolean that is neither true nor false', filter('is_byok', 'eq', 'yes'), 'filters[0].value'),
  refused('an unknown operator', filter('model', 'like', 'a'), 'filters[0].operator'),
  refused(
    'classifiers',
    { metrics: ['request_count'], classifier_dimensions: { classifier_id: 'x' } },
    'no classifiers',
  ),
])
