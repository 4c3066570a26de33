import * as read from '../readers.ts'
import { type Setting, setting } from '../setting.ts'

const HOUR_MS = 3_600_000
const noRanges: readonly string[] = []

/** Calls to providers: time limits, load and private addresses. */
export const providerSettings = {
  discover: setting({
    variable: 'SLUICE_DISCOVER',
    type: '`on`, `off`',
    fallback: true,
    read: read.onOff,
    meaning: 'Looks for Ollama, LM Studio, llama.cpp and vLLM on this machine.',
  }),
  firstByteTimeoutMs: setting({
    variable: 'SLUICE_FIRST_BYTE_TIMEOUT_MS',
    type: 'milliseconds',
    fallback: 120_000,
    read: read.wholeNumber(1, 24 * HOUR_MS, 'milliseconds'),
    meaning: "Longest wait for the first byte of a provider's reply.",
  }),
  stallTimeoutMs: setting({
    variable: 'SLUICE_STALL_TIMEOUT_MS',
    type: 'milliseconds',
    fallback: 60_000,
    read: read.wholeNumber(1, 24 * HOUR_MS, 'milliseconds'),
    meaning: 'Longest pause of a provider within a reply.',
  }),
  maxInFlight: setting({
    variable: 'SLUICE_MAX_IN_FLIGHT',
    type: 'number',
    fallback: 16_384,
    read: read.wholeNumber(1, 60_000),
    meaning: 'Most calls to all providers at the same time. A request beyond it gets a 503 at once.',
  }),
  bodiesInFlightMb: setting({
    variable: 'SLUICE_BODIES_IN_FLIGHT_MB',
    type: 'MB',
    fallback: 512,
    read: read.wholeNumber(64, 1_000_000, 'MB'),
    meaning: 'Memory that the bodies of running requests may take together. A request beyond it gets a 503.',
  }),
  roomWaitMs: setting({
    variable: 'SLUICE_ROOM_WAIT_MS',
    type: 'milliseconds',
    fallback: 2_000,
    read: read.wholeNumber(0, 60_000, 'milliseconds'),
    meaning:
      'How long a request waits if only running requests reserve the budget that it needs. `0`: it is rejected at once.',
  }),
  hedgeMs: setting({
    variable: 'SLUICE_HEDGE_MS',
    type: 'milliseconds',
    fallback: 0,
    read: read.wholeNumber(0, 600_000, 'milliseconds'),
    meaning:
      'A conversation without content after this time is sent to a second endpoint of its model too, unless `provider.hedge_ms` says otherwise; both may be charged. `0`: never.',
  }),
  outboundAllow: setting({
    variable: 'SLUICE_OUTBOUND_ALLOW',
    type: 'hosts, CIDRs',
    fallback: noRanges,
    read: read.listOf('hosts, addresses or CIDR ranges', read.hostOrRange),
    meaning: 'Private hosts that URLs in requests may reach.',
  }),
} satisfies Record<string, Setting<unknown>>
