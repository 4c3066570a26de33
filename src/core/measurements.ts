/** What this gateway has measured of its endpoints, from its own traffic. */

/** What 50, 75, 90 and 99 of a hundred requests did at least as well as: `p99` is the worst of the four. */
export interface Percentiles {
  readonly p50: number
  readonly p75: number
  readonly p90: number
  readonly p99: number
}

/** Null: nothing was measured in that time. */
export interface EndpointMeasurements {
  /** Of the try: sent → first content, in milliseconds; of the last 30 minutes. */
  readonly latencyMs: Percentiles | null
  /** Output tokens per second, reasoning included; of the last 30 minutes. */
  readonly tokensPerSecond: Percentiles | null
  /** Percent of attempts with a complete reply; caller errors and rate limits do not count. */
  readonly uptime5m: number | null
  readonly uptime30m: number | null
  readonly uptime1d: number | null
}

export interface Measurements {
  /** Null: this endpoint was not tried since the start. Cheap enough to call for every endpoint of a list. */
  of(endpointId: string): EndpointMeasurements | null
}
