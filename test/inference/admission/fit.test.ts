import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Attempt } from '../../../src/core/attempt.ts'
import type { EndpointRecord } from '../../../src/core/snapshot.ts'
import { fitConversation, type Priced } from '../../../src/inference/admission/fit.ts'
import { holdOf } from '../../../src/inference/admission/price.ts'
import { attemptFor } from '../../dialects/attempt.ts'
import { pricing } from '../fixture.ts'

const USD = 1_000_000_000

const attempt = (more: Partial<EndpointRecord> = {}): Attempt =>
  attemptFor('chat', {
    endpoint: {
      pricing: pricing('0.00000125', '0.00001'),
      contextLength: 400_000,
      maxCompletionTokens: 128_000,
      ...more,
    },
  })
const hi: Priced = {
  prompt: { text: 8, audio: 0, image: 0 },
  maxOutputTokens: undefined,
  choices: 1,
  hasAudioOutput: false,
}
const remaining = (nanoUsd: number, unspentNanoUsd = nanoUsd) => ({ nanoUsd, unspentNanoUsd, gate: null })
const boundsOf = (attempts: readonly Attempt[]) => attempts.map(({ outputBound }) => outputBound)

test('a $5 key admits 15 unbounded requests to gpt-5 at once, the first with a quarter of the budget', () => {
  let left = 5 * USD
  const bounds: (number | undefined)[] = []
  for (;;) {
    const { attempts, amountNanoUsd, fits } = fitConversation(
      [attempt()],
      hi,
      remaining(left, 5 * USD),
      false,
    )
    if (!fits) break
    left -= amountNanoUsd
    bounds.push(...boundsOf(attempts))
  }
  expect(bounds.slice(0, 3)).toEqual([124_999, 93_749, 70_311])
  expect(bounds.length).toBe(15)
  expect(bounds.at(-1)).toBe(4_096)
  expect(left).toBeGreaterThanOrEqual(0)
})

describe('the bound of a request without one', () => {
  test.each<[what: string, left: number, unspent: number, isLast: boolean, bound: number, fits: boolean]>([
    ['a quarter', 0.4, 0.4, false, 9_999, true],
    ['4,096 tokens beyond a quarter', 0.1, 0.1, false, 4_096, true],
    ['4,096 tokens that running requests hold, to wait for', 0.02, 0.1, false, 4_096, false],
    ['what is left at the end of the wait', 0.02, 0.1, true, 1_999, true],
    ['what is left of a limit without 4,096 tokens', 0.02, 0.03, false, 1_999, true],
    ['1,024 tokens that running requests hold, to wait for', 0.001, 0.03, false, 1_024, false],
  ])('%s', (_, left, unspent, isLast, bound, fits) => {
    const fitted = fitConversation([attempt()], hi, remaining(left * USD, unspent * USD), isLast)
    expect([boundsOf(fitted.attempts), fitted.fits]).toEqual([[bound], fits])
  })

  test.each([
    [undefined, 9_999],
    ['flex', 9_999],
    ['priority', 4_999],
  ] as const)(
    'for the service tier %s: %d, at the highest price that may be served',
    (requestedTier, bound) => {
      const usual = pricing('0.00000125', '0.00001')
      const tiered = attempt({
        pricing: {
          ...usual,
          serviceTiers: {
            flex: pricing('0.0000006', '0.000005'),
            priority: pricing('0.00000125', '0.00002'),
          },
        },
      })
      const fitted = fitConversation([tiered], { ...hi, requestedTier }, remaining(0.4 * USD), false)
      expect(boundsOf(fitted.attempts)).toEqual([bound])
    },
  )

  test('is not sent where the longest answer of the model is within it, and without limits', () => {
    const short = attempt({ maxCompletionTokens: 4_000 })
    expect(boundsOf(fitConversation([short], hi, remaining(0.05 * USD), false).attempts)).toEqual([undefined])
    const unlimited = fitConversation([attempt()], hi, remaining(Number.POSITIVE_INFINITY), false)
    expect(boundsOf(unlimited.attempts)).toEqual([undefined])
    const free = attempt({ pricing: pricing('0.000001', '0') })
    expect(boundsOf(fitConversation([free], hi, remaining(9_000), false).attempts)).toEqual([undefined])
  })

  test('is sent if the longest answer is unknown, and leaves space for the prompt in the context', () => {
    const unknown = attempt({ maxCompletionTokens: null, contextLength: null })
    expect(boundsOf(fitConversation([unknown], hi, remaining(5 * USD), false).attempts)).toEqual([16_384])
    const narrow = attempt({ maxCompletionTokens: null, contextLength: 100_000 })
    const long = { ...hi, prompt: { text: 60_000, audio: 0, image: 0 } }
    expect(boundsOf(fitConversation([narrow], long, remaining(3.9 * USD), false).attempts)).toEqual([40_000])
  })

  test("the caller's own bound is never changed", () => {
    const asked = { ...hi, maxOutputTokens: 20_000 }
    for (const left of [0, 0.05, 0.25, 5])
      expect(boundsOf(fitConversation([attempt()], asked, remaining(left * USD), false).attempts)).toEqual([
        undefined,
      ])
  })
})

test('at any price and remaining budget: a reservation fits the budget, and takes a quarter of it beyond 4,096 tokens', () => {
  const price = fc.integer({ min: 0, max: 10_000 }).map((nano) => `0.${String(nano).padStart(9, '0')}`)
  fc.assert(
    fc.property(
      fc.array(fc.tuple(price, price, fc.option(fc.integer({ min: 1, max: 200_000 }))), {
        minLength: 1,
        maxLength: 3,
      }),
      fc.integer({ min: 0, max: USD }),
      fc.integer({ min: 0, max: USD }),
      fc.nat(50_000),
      fc.boolean(),
      (endpoints, left, more, text, isLast) => {
        const group = endpoints.map(([prompt, completion, maxCompletionTokens]) =>
          attempt({ pricing: pricing(prompt, completion), maxCompletionTokens, contextLength: null }),
        )
        const prompt = { text, audio: 0, image: 0 }
        const fitted = fitConversation(group, { ...hi, prompt }, remaining(left, left + more), isLast)
        // The request costs at most what is reserved.
        for (const { endpoint, outputBound } of fitted.attempts) {
          const longest = outputBound ?? endpoint.maxCompletionTokens ?? Number.NaN
          const most = endpoint.pricing ? holdOf(endpoint.pricing, prompt, longest) : Number.NaN
          expect(most).toBeLessThanOrEqual(fitted.amountNanoUsd)
        }
        if (!fitted.fits) return
        expect(fitted.amountNanoUsd).toBeLessThanOrEqual(left)
        if (fitted.amountNanoUsd <= left / 4) return
        const [only, ...others] = fitted.attempts
        if (only === undefined || others.length > 0) return
        const longest = only.outputBound ?? only.endpoint.maxCompletionTokens ?? Number.NaN
        const isFree = only.endpoint.pricing?.completion === 0n
        expect(isFree || longest <= 4_096).toBe(true)
      },
    ),
    { seed: 20261122, numRuns: 2_000 },
  )
})
