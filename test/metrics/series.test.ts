import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatPrice } from '../../src/core/money.ts'
import { linesOf } from '../../src/metrics/definition.ts'
import { METRICS } from '../../src/metrics/list.ts'
import { createSeries, type Series } from '../../src/metrics/series.ts'
import { runs } from '../exhaustive.ts'

const seriesOf = (name: keyof typeof METRICS, mostSeries = 5_000, onOverflow = () => {}): Series =>
  createSeries(METRICS[name], { mostSeries, createdAt: () => 1_000, onOverflow })

const readings = (series: Series) =>
  Array.from({ length: series.size() }, (_, place) => series.at(place)).filter((each) => each !== null)

test('sums of money are exact, as decimals', () => {
  const amount = fc.oneof(fc.nat(10), fc.nat(2_000_000_000), fc.maxSafeNat())
  fc.assert(
    fc.property(fc.array(amount, { maxLength: 50 }), (amounts) => {
      const series = seriesOf('sluice_cost_usd_total')
      const place = series.place(['w', 'm', 'p', 'ok'])
      for (const each of amounts) series.add(place, each)
      const sum = amounts.reduce((total, each) => total + BigInt(each), 0n)
      expect(series.at(place)?.value).toBe(formatPrice(sum * 1_000_000_000n))
    }),
    { seed: 18, numRuns: runs(300, 20_000) },
  )
})

test('a value at a bound is in its bucket, and one beyond the last bound in the last', () => {
  const series = seriesOf('gen_ai_client_token_usage')
  const place = series.place(['chat', 'p', 'm', 'input'])
  for (const value of [0, 1, 2, 4, 5, 70_000_000]) series.observe(place, value)
  expect([...(series.at(place)?.counts ?? [])]).toEqual([2, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1])
  expect(series.at(place)?.value).toBe('70000012')
})

describe('a full metric', () => {
  test('has at most as many lines as the setting, and adds the rest to `other`', () => {
    let overflows = 0
    const count = seriesOf('sluice_requests_total', 1_000, () => {
      overflows += 1
    })
    for (let index = 0; index < 20_000; index++) count.add(count.place(['w', `m${index}`, 'p', 'ok']), 1)
    expect(readings(count).length).toBeLessThanOrEqual(1_000)
    const [other] = readings(count).filter(({ labels }) => labels.includes('model="other"'))
    expect(other).toMatchObject({
      labels: 'workspace="other",model="other",provider="other",outcome="ok"',
      value: String(overflows),
    })
    expect(readings(count).reduce((sum, { value }) => sum + Number(value), 0)).toBe(20_000)
  })

  test('counts every bucket of a histogram as a line', () => {
    const name = 'gen_ai_client_operation_duration_seconds'
    const series = seriesOf(name)
    for (let index = 0; index < 5_000; index++)
      series.observe(series.place(['chat', 'p', `m${index}`, '']), 1)
    expect(readings(series).length * linesOf(METRICS[name])).toBeLessThanOrEqual(5_000)
    expect(readings(series).length * linesOf(METRICS[name])).toBeGreaterThan(4_500)
  })
})

describe('series of things that are gone', () => {
  const HOUR_MS = 3_600_000
  const sweep = (series: Series, gone: readonly string[], at: number): boolean =>
    series.sweep((values) => values.some((value) => gone.includes(value)), at, HOUR_MS)

  test('go after an hour, unless the things come back; their places are used again', () => {
    const series = seriesOf('sluice_key_requests_total')
    const [one, two] = [series.place(['one']), series.place(['two'])]
    series.add(one, 3)
    series.add(two, 4)
    expect(sweep(series, ['one', 'two'], 1)).toBe(false)
    expect(sweep(series, ['one'], HOUR_MS)).toBe(false)
    expect(sweep(series, ['one'], HOUR_MS + 1)).toBe(true)
    expect(readings(series).map(({ labels, value }) => [labels, value])).toEqual([['key="two"', '4']])
    expect(series.place(['three'])).toBe(one)
    expect(series.at(one)).toMatchObject({ labels: 'key="three"', value: '0' })
  })
})
