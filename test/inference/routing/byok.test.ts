import { describe, expect, test } from 'bun:test'
import type { ByokKey } from '../../../src/core/byok.ts'
import { GatewayError } from '../../../src/core/errors.ts'
import { byokKeysOf, routesTo } from '../../../src/core/route.ts'
import type { Snapshot } from '../../../src/core/snapshot.ts'
import { routingMetadata } from '../../../src/inference/routing/metadata.ts'
import { plan } from '../../../src/inference/routing/plan.ts'
import { caller, directory, endpoint, model, pricing, provider, request, snapshot } from '../fixture.ts'

const TINY = 'lab/tiny'
const shared = snapshot(
  [provider('one'), provider('two')],
  directory([
    model(TINY, [endpoint('one', TINY), endpoint('two', TINY, { pricing: pricing('0.1', '0.1') })]),
    model('lab/zdr', [endpoint('one', 'lab/zdr', { isZdr: true })]),
  ]),
)
const withByok = {
  providersBySlug: new Map(
    [provider('one'), provider('two'), provider('three', { credentials: [] })].map((one) => [one.slug, one]),
  ),
  models: directory([
    model(TINY, [endpoint('one', TINY), endpoint('three', TINY), endpoint('two', TINY)]),
    model('lab/far', [endpoint('three', 'lab/far')]),
  ]),
}

let made = 0
const own = (providerSlug: string, more: Partial<ByokKey> = {}): ByokKey => {
  made += 1
  const id = `own-${made}`
  return {
    id,
    providerSlug,
    sortOrder: made,
    credential: { id, secret: `secret of ${providerSlug}` },
    isFallback: false,
    isRequired: false,
    isByokOnly: false,
    declaredZdr: null,
    allowedKeyHashes: null,
    allowedModels: null,
    allowedUserIds: null,
    ...more,
  }
}
const me = caller()
const withOwn = (keys: readonly ByokKey[]): Snapshot => ({
  ...shared,
  byokKeys: new Map([[me.workspace.id, keys]]),
  withByok,
})

function planned(keys: readonly ByokKey[], name = TINY, blocked: readonly string[] = []) {
  return plan({
    request: request({ models: [name] }),
    caller: me,
    snapshot: withOwn(keys),
    now: 0,
    cooldownOf: ({ credential }, isOnly) =>
      blocked.includes(credential.id) && !isOnly ? { reason: 'failing', until: 1_000 } : null,
    random: () => 0.5,
  })
}
const attempts = (...asked: Parameters<typeof planned>): string[] =>
  planned(...asked).attempts.map(({ provider: { slug }, byokKey }) => (byokKey ? `own@${slug}` : slug))

function refusal(keys: readonly ByokKey[], name = TINY): [status: number, message: string] {
  try {
    planned(keys, name)
  } catch (error) {
    if (error instanceof GatewayError) return [error.status, error.message]
    throw error
  }
  throw new Error('the plan was expected to be refused')
}

describe('own keys in a plan', () => {
  const UNREAD = { credential: null }
  const rows: [what: string, keys: ByokKey[], expected: string[]][] = [
    ['none', [], ['one', 'two']],
    ['at the dearer provider', [own('two')], ['own@two', 'one', 'two']],
    ['at one that has no credential here', [own('three')], ['own@three', 'one', 'two']],
    ['at an endpoint without any credential', [own('four')], ['one', 'two']],
    ['that cannot be opened', [own('one', UNREAD)], ['one', 'two']],
    ['that cannot be opened and requires', [own('one', { ...UNREAD, isRequired: true })], ['two']],
    [
      'that requires another model',
      [own('one', { isRequired: true, allowedModels: new Set(['x']) })],
      ['one', 'two'],
    ],
    [
      'that is the only one, for another model',
      [own('one', { isByokOnly: true, allowedModels: new Set() })],
      ['two'],
    ],
    [
      'for falling back',
      [own('three', { isFallback: true }), own('one')],
      ['own@one', 'one', 'two', 'own@three'],
    ],
    ['for another key', [own('one', { isByokOnly: true, allowedKeyHashes: new Set(['x']) })], ['one', 'two']],
    ['by a canonical slug', [own('one', { allowedModels: new Set([TINY]) })], ['own@one', 'one', 'two']],
  ]
  test.each(rows)('%s', (_, keys, expected) => expect(attempts(keys)).toEqual(expected))

  test('one that fails is left alone while the gateway has another', () => {
    const key = own('one', { isByokOnly: true })
    const id = key.credential?.id ?? ''
    expect(attempts([key], TINY, [id])).toEqual(['two'])
    expect(attempts([own('three')], 'lab/far')).toEqual(['own@three'])
    const only = own('three')
    expect(attempts([only], 'lab/far', [only.credential?.id ?? ''])).toEqual(['own@three'])
  })

  test('an endpoint is one candidate for all callers', () => {
    const keys = [own('one'), own('one')]
    const made = planned(keys)
    const { endpoints } = routingMetadata({
      plan: made,
      admitted: made.attempts,
      tries: [],
      answered: null,
      dropped: [],
      outputBound: null,
      pipeline: undefined,
      timings: { admit: 0, plan: 0 },
    })
    expect(endpoints.available.map(({ provider }) => provider)).toEqual(['ONE', 'TWO'])
  })

  test('a refusal names what shuts a model, and what to do', () => {
    const shut = [own('one', { isByokOnly: true, allowedModels: new Set(['x']) })]
    expect(refusal(shut, 'lab/zdr')).toEqual([404, expect.stringContaining('only its BYOK key of ONE')])
    const unread = [own('one', { isRequired: true, credential: null })]
    expect(refusal(unread, 'lab/zdr')).toEqual([404, expect.stringContaining('store it again')])
    expect(refusal([own('three', { credential: null })], 'lab/far')).toEqual([
      404,
      expect.stringContaining('store it again'),
    ])
    // A model that only other workspaces have BYOK keys for is unknown.
    expect(refusal([], 'lab/far')[1]).toContain('There is no model "lab/far"')
    expect(refusal([own('one')], 'lab/far')[1]).toContain('There is no model "lab/far"')
  })

  test('what is agreed on retention is of the key, not of the endpoint', () => {
    const isZdr = (declaredZdr: boolean | null, name: string): boolean[] => {
      const found = shared.models.find(name)
      if (found === undefined) throw new Error('no such model')
      const world = withOwn([own('one', { declaredZdr })])
      return routesTo(found, byokKeysOf(me, world), world)
        .routes.filter(({ provider: { slug } }) => slug === 'one')
        .map(({ endpoint: record }) => record.isZdr)
    }
    expect([isZdr(null, TINY), isZdr(true, TINY), isZdr(false, TINY)]).toEqual([
      [false, false],
      [true, false],
      [false, false],
    ])
    expect([isZdr(null, 'lab/zdr'), isZdr(false, 'lab/zdr')]).toEqual([
      [true, true],
      [false, true],
    ])
  })
})
