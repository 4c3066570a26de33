import { beforeEach, describe, expect, test } from 'bun:test'
import { UpstreamError } from '../../../src/core/errors.ts'
import type { AttemptOutcome, Settlement } from '../../../src/core/generation.ts'
import { NO_USAGE } from '../../../src/core/usage.ts'
import { createMeasurements, type Meters } from '../../../src/inference/routing/measurements.ts'
import { settlementOf } from '../../ledger/fixture.ts'

const ID = 'lab/maker/one'
const MINUTE = 60_000
let now = 0
let meters: Meters

beforeEach(() => {
  now = Date.parse('2026-01-11T00:00:00Z')
  meters = createMeasurements(() => now)
})

const tried = (more: Partial<AttemptOutcome> = {}): AttemptOutcome => ({
  endpointId: ID,
  modelId: 'maker/one',
  providerSlug: 'lab',
  providerName: 'Lab',
  upstreamId: null,
  status: 200,
  code: null,
  latencyMs: 500,
  ...more,
})
const settled = (more: Partial<Settlement> = {}): void =>
  meters.settled(
    settlementOf({
      endpointId: ID,
      tries: [tried()],
      finishReason: 'stop',
      cancelled: false,
      streamed: true,
      usage: { ...NO_USAGE, outputTokens: 80, reasoningTokens: 20 },
      usageSource: 'provider',
      latencyMs: 700,
      generationTimeMs: 2_000,
      ...more,
    }),
  )
const failing = (kind: UpstreamError['kind']) => meters.failed(ID, new UpstreamError(kind, 'x'))
const uptime = () => meters.of(ID)?.uptime30m ?? null

describe('latency', () => {
  test('nearest ranks of what the last half hour saw', () => {
    for (let ms = 100; ms >= 1; ms--) meters.answered(ID, ms)
    expect(meters.of(ID)?.latencyMs).toEqual({ p50: 50, p75: 75, p90: 90, p99: 99 })
    now += 31 * MINUTE
    expect(meters.of(ID)?.latencyMs).toBeNull()
    meters.answered(ID, 7)
    expect(meters.of(ID)?.latencyMs).toEqual({ p50: 7, p75: 7, p90: 7, p99: 7 })
  })

  test('of many, the newest count, and memory does not grow with them', () => {
    for (let index = 0; index < 10_000; index++) meters.answered(ID, index < 9_744 ? 1 : 1_000)
    expect(meters.of(ID)?.latencyMs).toEqual({ p50: 1_000, p75: 1_000, p90: 1_000, p99: 1_000 })
  })

  test('a list that is read often is reckoned once a second', () => {
    meters.answered(ID, 10)
    const first = meters.of(ID)?.latencyMs
    meters.answered(ID, 20)
    expect(meters.of(ID)?.latencyMs).toBe(first ?? null)
    now += 1_000
    expect(meters.of(ID)?.latencyMs).toMatchObject({ p50: 10, p99: 20 })
  })
})

describe('throughput', () => {
  test('tokens from the first content to the end; the slow ones are the high percentiles', () => {
    for (let ms = 1_000; ms <= 4_000; ms += 1_000) settled({ generationTimeMs: ms })
    expect(meters.of(ID)?.tokensPerSecond).toEqual({ p50: 50, p75: 33.33, p90: 25, p99: 25 })
  })

  test('a reply that was not streamed is counted with its own waiting, not with that of others', () => {
    const tries = [tried({ code: 'timeout', latencyMs: 9_000 }), tried({ latencyMs: 1_000 })]
    settled({ streamed: false, tries, latencyMs: 10_000, generationTimeMs: 0 })
    expect(meters.of(ID)?.tokensPerSecond?.p50).toBe(100)
  })

  test.each<[string, Partial<Settlement>]>([
    ['no tokens', { usage: NO_USAGE }],
    ['our own estimate', { usageSource: 'estimated' }],
    ['the client disconnected', { cancelled: true }],
    ['cut', { finishReason: 'error' }],
  ])('no speed: %s', (_, more) => {
    settled(more)
    expect(meters.of(ID)?.tokensPerSecond).toBeNull()
  })
})

describe('uptime', () => {
  test('percent of attempts with a complete reply', () => {
    settled()
    settled({ cancelled: true })
    expect(uptime()).toBe(100)
    settled({ finishReason: 'error' })
    expect(uptime()).toBe(66.67)
    failing('server')
    failing('timeout')
    expect(uptime()).toBe(40)
  })

  test('failures that are not its fault do not count', () => {
    failing('caller')
    failing('capacity')
    failing('rate-limit')
    expect(meters.of(ID)).toBeNull()
    // No provider had answered when the client disconnected.
    settled({ cancelled: true, tries: [] })
    settled({ cancelled: true, tries: [tried({ status: null })] })
    settled({ cancelled: true, tries: [tried({ code: 'server' })] })
    expect(meters.of(ID)).toBeNull()
  })

  test('each window forgets at its own time', () => {
    failing('server')
    const windows = () => {
      const { uptime5m, uptime30m, uptime1d } = meters.of(ID) ?? {}
      return [uptime5m, uptime30m, uptime1d]
    }
    expect(windows()).toEqual([0, 0, 0])
    now += 5 * MINUTE
    settled()
    expect(windows()).toEqual([100, 50, 50])
    now += 30 * MINUTE
    expect(windows()).toEqual([null, null, 50])
    now += 24 * 60 * MINUTE
    expect(windows()).toEqual([null, null, null])
  })
})

test('an endpoint that was never tried has no measurements', () =>
  expect(meters.of('somebody/else')).toBeNull())
