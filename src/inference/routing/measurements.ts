import type { UpstreamError, UpstreamFailure } from '../../core/errors.ts'
import { gaveContent, type Settlement } from '../../core/generation.ts'
import type { EndpointMeasurements, Measurements } from '../../core/measurements.ts'
import { completionTokens } from '../../core/usage.ts'
import type { Health } from './health.ts'
import { createRecent, type ModelTries, type Recent } from './recent.ts'
import { createSamples, type Samples } from './samples.ts'

/** Records every attempt and every settled generation. Each call is O(1), in memory. */
export interface Meters extends Measurements {
  /** For sorting; undefined: this endpoint was not tried since the start. */
  recentOf(endpointId: string): Recent | undefined
  /** An attempt begins. */
  tried(endpointId: string, modelId: string): void
  /** An attempt delivered its first content. */
  answered(endpointId: string, latencyMs: number): void
  /** An attempt failed before its first content. */
  failed(endpointId: string, error: UpstreamError): void
  /** A generation is settled. Generations without content are ignored. */
  settled(settlement: Settlement): void
}

interface Meter {
  readonly latency: Samples
  readonly speed: Samples
  readonly uptime: Uptime
  readonly recent: Recent
}

/** Invalid and unsuitable requests, a full bulkhead and rate limits do not count as downtime. */
const NOT_DOWN: ReadonlySet<UpstreamFailure> = new Set(['caller', 'unsuitable', 'capacity', 'rate-limit'])

/** In memory only: a restart clears them. Each endpoint takes a few kilobytes at most. */
export function createMeasurements(now: () => number): Meters {
  const meters = new Map<string, Meter>()
  const triesByModel = new Map<string, ModelTries>()
  const triesOf = (modelId: string): ModelTries => {
    const known = triesByModel.get(modelId)
    if (known !== undefined) return known
    const tries = { count: 0 }
    triesByModel.set(modelId, tries)
    return tries
  }
  const meterOf = (endpointId: string): Meter => {
    const known = meters.get(endpointId)
    if (known !== undefined) return known
    const meter = {
      recent: createRecent(),
      latency: createSamples('smaller'),
      speed: createSamples('larger'),
      uptime: createUptime(),
    }
    meters.set(endpointId, meter)
    return meter
  }
  return {
    of(endpointId) {
      const meter = meters.get(endpointId)
      return meter === undefined ? null : readingOf(meter, now())
    },
    recentOf: (endpointId) => meters.get(endpointId)?.recent,
    tried(endpointId, modelId) {
      const { recent } = meterOf(endpointId)
      recent.ofModel = triesOf(modelId)
      recent.ofModel.count += 1
      recent.triedCount = recent.ofModel.count
      recent.triedAt = now()
      recent.tries += 1
    },
    answered(endpointId, latencyMs) {
      const { latency, recent } = meterOf(endpointId)
      const at = now()
      latency.add(at, latencyMs)
      recent.latencyMs.add(at, latencyMs)
    },
    failed(endpointId, { kind }) {
      if (NOT_DOWN.has(kind)) return
      meterOf(endpointId).uptime.count(now(), false)
    },
    settled(settlement) {
      const { endpointId, finishReason, cancelled, tries } = settlement
      // A disconnect before the first content proves nothing about the endpoint.
      const last = tries.at(-1)
      if (last?.endpointId !== endpointId || !gaveContent(last)) return
      const meter = meterOf(endpointId)
      meter.uptime.count(now(), cancelled || finishReason !== 'error')
      const { toolCalls } = settlement
      if (toolCalls) meter.recent.toolCalls.add(now(), toolCalls.valid, toolCalls.all)
      const speed = speedOf(settlement)
      if (speed === null) return
      meter.speed.add(now(), speed)
      meter.recent.tokensPerSecond.add(now(), speed)
    },
  }
}

function readingOf({ latency, speed, uptime }: Meter, at: number): EndpointMeasurements {
  return {
    latencyMs: latency.percentiles(at),
    tokensPerSecond: speed.percentiles(at),
    uptime5m: uptime.percent(at, 5),
    uptime30m: uptime.percent(at, 30),
    uptime1d: uptime.percent(at, 1440),
  }
}

/**
 * Tokens per second from the first content to the end, or of the total time if the reply was not streamed. Only for
 * complete replies whose tokens the provider reported.
 */
function speedOf(settlement: Settlement): number | null {
  const { usage, usageSource, finishReason, cancelled, streamed, generationTimeMs, tries } = settlement
  if (usageSource !== 'provider' || cancelled || finishReason === 'error') return null
  const tokens = completionTokens(usage)
  const timeMs = streamed ? generationTimeMs : (tries.at(-1)?.latencyMs ?? 0) + generationTimeMs
  // Durations under one tick of the clock count as 1 ms.
  return tokens === 0 ? null : Math.round((tokens * 100_000) / Math.max(1, timeMs)) / 100
}

/** A `Health` that also reports the result of each attempt to the meters. */
export const metered = (health: Health, meters: Meters): Health => ({
  ...health,
  trying(attempt) {
    meters.tried(attempt.endpoint.id, attempt.model.id)
    return health.trying(attempt)
  },
  succeeded(attempt, firstContentMs) {
    health.succeeded(attempt, firstContentMs)
    meters.answered(attempt.endpoint.id, firstContentMs)
  },
  failed(attempt, error, began) {
    health.failed(attempt, error, began)
    // A rejected BYOK key proves nothing about the endpoint, which all workspaces share.
    if (error.kind !== 'credential' || attempt.byokKey === undefined)
      meters.failed(attempt.endpoint.id, error)
  },
})

/** Counts successful and failed attempts in ring buffers of time slots. Counting is O(1); memory is fixed. */
interface Uptime {
  count(at: number, isUp: boolean): void
  /** Success rate in percent over the last 5 minutes, 30 minutes or day; null without attempts. */
  percent(at: number, minutes: 5 | 30 | 1440): number | null
}

interface Slot {
  /** Slots since 1970. */
  number: number
  up: number
  down: number
}

const MINUTE_MS = 60_000
/** The day is counted in slots of 15 minutes, the half hour in minutes. */
const COARSE_MINUTES = 15

function createUptime(): Uptime {
  const minutes = createSlots(MINUTE_MS, 30)
  const quarters = createSlots(COARSE_MINUTES * MINUTE_MS, 96)
  return {
    count(at, isUp) {
      minutes.count(at, isUp)
      quarters.count(at, isUp)
    },
    percent: (at, span) =>
      span === 1440 ? quarters.percent(at, span / COARSE_MINUTES) : minutes.percent(at, span),
  }
}

function createSlots(spanMs: number, slotCount: number) {
  const slots: Slot[] = []
  return {
    count(at: number, isUp: boolean): void {
      const number = Math.floor(at / spanMs)
      const known = slots[number % slotCount]
      const slot = known?.number === number ? known : { number, up: 0, down: 0 }
      slots[number % slotCount] = slot
      if (isUp) slot.up += 1
      else slot.down += 1
    },
    /** Over the last `count` slots, including the current one. */
    percent(at: number, count: number): number | null {
      const oldest = Math.floor(at / spanMs) - count
      let up = 0
      let down = 0
      for (const slot of slots) {
        if (slot === undefined || slot.number <= oldest) continue
        up += slot.up
        down += slot.down
      }
      return up + down === 0 ? null : Math.round((10_000 * up) / (up + down)) / 100
    },
  }
}
