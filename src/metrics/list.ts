/** Every metric of `GET /metrics`, by name. */
import type { Definition } from './definition.ts'

/** Boundaries that the OpenTelemetry conventions for generative AI recommend (semantic-conventions-genai, 2026). */
const SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const TOKENS = [
  1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576, 4_194_304, 16_777_216, 67_108_864,
]
/** For durations of the gateway itself. */
const SHORT_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

const OPERATION = ['gen_ai_operation_name', 'gen_ai_provider_name', 'gen_ai_request_model'] as const
const REQUEST = ['workspace', 'model', 'provider', 'outcome'] as const
const ENDPOINT = ['provider', 'endpoint'] as const
const DESTINATION = ['destination', 'type'] as const
const BUDGET = ['scope', 'name', 'interval'] as const

const ofGenerations = {
  gen_ai_client_operation_duration_seconds: {
    kind: 'histogram',
    help: 'Time of a generation at a provider, from the arrival of the request to the end of the reply.',
    labels: [...OPERATION, 'error_type'],
    bounds: SECONDS,
  },
  gen_ai_client_operation_time_to_first_chunk_seconds: {
    kind: 'histogram',
    help: 'Time to the first content of a streamed reply.',
    labels: [...OPERATION, 'error_type'],
    bounds: SECONDS,
  },
  gen_ai_client_token_usage_total: {
    kind: 'counter',
    help: 'Tokens. input includes cache_read and cache_write, output includes reasoning.',
    labels: [...OPERATION, 'gen_ai_token_type'],
  },
  gen_ai_client_token_usage: {
    kind: 'histogram',
    help: 'Tokens of one generation.',
    labels: [...OPERATION, 'gen_ai_token_type'],
    bounds: TOKENS,
  },
  sluice_requests_total: {
    kind: 'counter',
    help: 'Inference requests. The steps of a request, such as those of server tools, are not counted.',
    labels: REQUEST,
  },
  sluice_cost_usd_total: {
    kind: 'counter',
    help: 'Settled costs with the credentials of the gateway, steps included, in USD.',
    labels: REQUEST,
    isMoney: true,
  },
  sluice_cost_saved_usd_total: {
    kind: 'counter',
    help: 'What the response cache and the prompt caches of providers saved, in USD.',
    labels: REQUEST,
    isMoney: true,
  },
  sluice_key_requests_total: {
    kind: 'counter',
    help: 'Inference requests by the name of the key; with SLUICE_METRICS_KEYS=on.',
    labels: ['key'],
  },
  sluice_key_cost_usd_total: {
    kind: 'counter',
    help: 'Settled costs by the name of the key, in USD; with SLUICE_METRICS_KEYS=on.',
    labels: ['key'],
    isMoney: true,
  },
  sluice_filter_matches_total: {
    kind: 'counter',
    help: 'Requests in which a content filter matched.',
    labels: ['filter', 'action'],
  },
  sluice_response_cache_hits_total: {
    kind: 'counter',
    help: 'Requests that the response cache answered.',
    labels: [],
  },
} as const satisfies Record<string, Definition>

const ofRefusals = {
  sluice_refusals_total: {
    kind: 'counter',
    help: 'Requests that the gateway refused.',
    labels: ['reason'],
  },
  sluice_rate_limited_total: {
    kind: 'counter',
    help: 'Requests that a rate limit refused.',
    labels: ['limit'],
  },
} as const satisfies Record<string, Definition>

const ofRouting = {
  sluice_overhead_seconds: {
    kind: 'histogram',
    help: 'Time in the gateway: from the arrival to the first attempt (before), and for the commit after the end of the reply (after).',
    labels: ['phase'],
    bounds: SHORT_SECONDS,
  },
  sluice_attempts_total: {
    kind: 'counter',
    help: 'Calls of endpoints, by the kind of their outcome.',
    labels: [...ENDPOINT, 'outcome'],
  },
  sluice_fallbacks_total: {
    kind: 'counter',
    help: 'Attempts at an endpoint after another one had failed.',
    labels: [...ENDPOINT, 'outcome'],
  },
  sluice_endpoint_state: {
    kind: 'gauge',
    help: '0: called as usual, 1: probed after failures, 2: skipped after failures, 3: skipped after a rate limit or a refusal. The worst of its credentials.',
    labels: ENDPOINT,
    combined: 'greatest',
  },
  sluice_endpoint_in_flight: {
    kind: 'gauge',
    help: 'Open calls of an endpoint.',
    labels: ENDPOINT,
  },
} as const satisfies Record<string, Definition>

const ofMoney = {
  sluice_in_flight: {
    kind: 'gauge',
    help: 'Running requests.',
    labels: [],
  },
  sluice_held_usd: {
    kind: 'gauge',
    help: 'Reserved by running requests, in USD.',
    labels: [],
    isMoney: true,
  },
  sluice_budget_limit_usd: {
    kind: 'gauge',
    help: 'Spending limits, in USD. Those of the same scope and name are added up.',
    labels: BUDGET,
    isMoney: true,
  },
  sluice_budget_used_usd: {
    kind: 'gauge',
    help: 'Settled spending in the current interval of a limit, in USD.',
    labels: BUDGET,
    isMoney: true,
  },
} as const satisfies Record<string, Definition>

const ofStorage = {
  sluice_ledger_commit_seconds: {
    kind: 'histogram',
    help: 'Time of one commit of the ledger.',
    labels: [],
    bounds: SHORT_SECONDS,
  },
  sluice_ledger_waiting: {
    kind: 'gauge',
    help: 'Settlements that wait for their commit.',
    labels: [],
  },
  sluice_ledger_writable: {
    kind: 'gauge',
    help: '0 while commits fail or the disk is full: requests that cost something are refused.',
    labels: [],
  },
  sluice_db_bytes: {
    kind: 'gauge',
    help: 'Size of a database file.',
    labels: ['file'],
  },
  sluice_wal_bytes: {
    kind: 'gauge',
    help: 'Size of the write-ahead log of a database file.',
    labels: ['file'],
  },
  sluice_pruned_rows_total: {
    kind: 'counter',
    help: 'Rows that retention deleted.',
    labels: ['file'],
  },
  sluice_content_log_dropped_total: {
    kind: 'counter',
    help: 'Contents of generations that were not logged, because the queue was full or they could not be written.',
    labels: [],
  },
} as const satisfies Record<string, Definition>

const ofExports = {
  sluice_export_sent_total: {
    kind: 'counter',
    help: 'Generations that a destination accepted.',
    labels: DESTINATION,
  },
  sluice_export_failed_total: {
    kind: 'counter',
    help: 'Generations that a destination refused.',
    labels: DESTINATION,
  },
  sluice_export_dropped_total: {
    kind: 'counter',
    help: 'Generations that were not sent to a destination.',
    labels: [...DESTINATION, 'reason'],
  },
  sluice_export_lag_seconds: {
    kind: 'gauge',
    help: 'Age of the oldest generation that a destination has not accepted yet.',
    labels: DESTINATION,
  },
  sluice_export_queued_bytes: {
    kind: 'gauge',
    help: 'Size of what waits for a destination.',
    labels: DESTINATION,
  },
} as const satisfies Record<string, Definition>

const ofProcess = {
  sluice_event_loop_lag_seconds: {
    kind: 'histogram',
    help: 'How late a timer of the main thread was called.',
    labels: [],
    bounds: SHORT_SECONDS,
  },
  sluice_series_overflow_total: {
    kind: 'counter',
    help: 'Values that were added to the label "other", because the metric has as many series as SLUICE_METRICS_SERIES allows.',
    labels: ['metric'],
  },
  sluice_build_info: {
    kind: 'gauge',
    help: 'Always 1.',
    labels: ['version', 'bun', 'platform'],
  },
  process_resident_memory_bytes: {
    kind: 'gauge',
    help: 'Resident memory.',
    labels: [],
  },
  process_cpu_seconds_total: {
    kind: 'counter',
    help: 'Processor time, user and system.',
    labels: [],
  },
  process_open_fds: {
    kind: 'gauge',
    help: 'Open file descriptors. Absent if the system does not report them.',
    labels: [],
  },
  process_start_time_seconds: {
    kind: 'gauge',
    help: 'Start of the process, in seconds since 1970.',
    labels: [],
  },
} as const satisfies Record<string, Definition>

/** In the order of the text. */
export const METRICS = {
  ...ofGenerations,
  ...ofRefusals,
  ...ofRouting,
  ...ofMoney,
  ...ofStorage,
  ...ofExports,
  ...ofProcess,
} as const satisfies Record<string, Definition>

export type MetricName = keyof typeof METRICS
