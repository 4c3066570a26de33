/** Each limit of the fields of `rate_limits`, on every resource that has them. */
import { afterAll, beforeAll } from 'bun:test'
import { type Limit, manages, many, runLimits, x } from './limits.ts'
import { fresh, things } from './tenancy/things.ts'
import type { World } from './tenancy/types.ts'
import { startWorld } from './tenancy/world.ts'

let world: World
let guardrail = ''
let assigned: string[] = []
beforeAll(async () => {
  world = await startWorld()
  guardrail = await things.guardrail.make(world, world.own)
  assigned = [await things.key.make(world, world.own)]
})
afterAll(() => world.gateway.stop())

const slug = (): string => fresh('edge')

/** A field of `rate_limits` in the creation and in the change of every resource that has them. */
const rates = (
  subject: string,
  rate_limits: (value: unknown) => object,
  accepted: readonly unknown[],
  rejected: readonly unknown[],
  says: string,
): Limit[] =>
  [
    ['POST', () => '/keys', () => ({ name: 'Edge' })] as const,
    ['PATCH', () => `/keys/${assigned[0]}`, () => ({})] as const,
    ['POST', () => '/guardrails', () => ({ name: 'Edge' })] as const,
    ['PATCH', () => `/guardrails/${guardrail}`, () => ({})] as const,
    ['POST', () => '/workspaces', () => ({ name: 'Edge', slug: slug() })] as const,
    ['PATCH', () => `/workspaces/${world.foreign.id}`, () => ({})] as const,
  ].map(([method, path, more], index) => ({
    ...manages,
    subject: `${subject} of rate_limits, ${method} ${['key', 'guardrail', 'workspace'][index >> 1]}`,
    method,
    path,
    body: (value) => ({ ...more(), rate_limits: rate_limits(value) }),
    accepted,
    rejected,
    says,
  }))

const limits: Limit[] = [
  ...rates(
    'requests_per_minute',
    (requests_per_minute) => ({ requests_per_minute }),
    [1, 1_000_000_000, null],
    [0, -1, 1.5, 1_000_000_001, '1'],
    'rate_limits.requests_per_minute: must be an integer from 1 to 1000000000 or null',
  ),
  ...rates(
    'tokens_per_minute',
    (tokens_per_minute) => ({ tokens_per_minute }),
    [1, 1_000_000_000_000, null],
    [0, 1_000_000_000_001],
    'rate_limits.tokens_per_minute: must be an integer from 1 to 1000000000000 or null',
  ),
  ...rates(
    'concurrent_requests',
    (concurrent_requests) => ({ concurrent_requests }),
    [1, 1_000_000, null],
    [0, 1_000_001],
    'rate_limits.concurrent_requests: must be an integer from 1 to 1000000 or null',
  ),
  ...rates(
    'models',
    (count) => ({ models: many(Number(count), (i) => ({ model: `lab/m${i}`, requests_per_minute: 1 })) }),
    [0, 100],
    [101],
    'rate_limits.models: must be an array of at most 100 items',
  ),
  ...rates(
    'a model',
    (model) => ({ models: [{ model, tokens_per_minute: 1 }] }),
    ['x', x(256), 'Any/Name:free'],
    ['', x(257), 'a b', 'a\nb', null, undefined],
    'rate_limits.models[0].model: ',
  ),
  ...rates(
    'limits of a model',
    (more) => ({ models: [{ model: 'a', ...Object(more) }] }),
    [{ requests_per_minute: 1 }, { requests_per_minute: null, tokens_per_minute: 1 }],
    [{}, { requests_per_minute: null }, { concurrent_requests: 1 }, { requests_per_minute: 0 }],
    'rate_limits.models[0]',
  ),
  ...rates(
    'models with the same name',
    (model) => ({ models: ['a', model].map((name) => ({ model: name, requests_per_minute: 1 })) }),
    ['b', 'A'],
    ['a'],
    'rate_limits.models[1].model: another entry names this model already',
  ),
  ...rates(
    'unknown fields',
    (name) => ({ [String(name)]: 1 }),
    [],
    ['requests_per_day'],
    'is not known here',
  ),
]

runLimits('rate_limits', () => world, limits)
