import * as read from '../readers.ts'
import { optional, type Setting, setting } from '../setting.ts'

/** `GET /metrics`. */
export const metricsSettings = {
  metricsToken: optional({
    variable: 'SLUICE_METRICS_TOKEN',
    type: '≥ 32 visible ASCII',
    read: read.bootstrapKey,
    meaning:
      'Bearer token that may read `/metrics` and nothing else. Without it a management key may, and on a server that listens on loopback only, every program of that machine.',
  }),
  metricsPort: optional({
    variable: 'SLUICE_METRICS_PORT',
    type: 'number',
    read: read.wholeNumber(0, 65_535),
    meaning:
      'Serves `/metrics` at this port of `SLUICE_HOST` too, and nothing else there. `0` takes a free one. Default: none.',
  }),
  metricsKeys: setting({
    variable: 'SLUICE_METRICS_KEYS',
    type: '`on`, `off`',
    fallback: false,
    read: read.onOff,
    meaning: 'Counts requests and costs by the name of the key.',
  }),
  metricsSeries: setting({
    variable: 'SLUICE_METRICS_SERIES',
    type: 'number',
    fallback: 5_000,
    read: read.wholeNumber(0, 1_000_000, 'series'),
    meaning:
      'The most time series of a metric; a bucket of a histogram is one. What is beyond is added to the label `other`. `0` switches metrics off.',
  }),
} satisfies Record<string, Setting<unknown>>
