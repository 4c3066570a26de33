import type { Config } from '../config.ts'
import type { Caller } from '../core/caller.ts'
import { gaveContent, type Settlement } from '../core/generation.ts'
import type { FileStore } from '../files/store.ts'
import { type AccessLog, noteSettled, numeral, quoted } from '../http/access-log.ts'
import type { Incoming } from '../http/incoming.ts'
import { createRates } from '../inference/admission/rates.ts'
import { createRunning } from '../inference/admission/running.ts'
import type { RunDeps } from '../inference/generation.ts'
import { createTicker } from '../inference/reply/ticker.ts'
import { createResponseCache } from '../inference/response-cache/store.ts'
import { createHealth } from '../inference/routing/health.ts'
import { createMeasurements, metered } from '../inference/routing/measurements.ts'
import { createConversations } from '../inference/routing/stickiness.ts'
import { createApprovedCalls } from '../inference/tools/approved-calls.ts'
import { createContextStore } from '../inference/upstream/context-cache/store.ts'
import { createRetryBudget } from '../inference/upstream/retry-budget.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Metrics } from '../metrics/metrics.ts'
import type { OutboundAllow } from '../net/address.ts'
import { createUpstream } from '../net/client.ts'
import { contentFetcher } from '../net/content.ts'
import type { Resolve } from '../net/guarded.ts'
import { createTokenPool } from '../plugins/context-compression/token-pool.ts'
import { plugins } from '../plugins/index.ts'
import { createTokens } from '../providers/token.ts'
import { createDocumentReader } from '../tools/documents/reader.ts'
import { createMcpAccess } from '../tools/mcp/access.ts'
import type { BodyStores } from './body-stores.ts'
import { logAttempts, logHealth, logLost, type RunLoggers } from './run-log.ts'
import { MEGABYTE } from './units.ts'
import { openWeb } from './web.ts'

export interface RunParts {
  readonly config: Config
  readonly loggers: RunLoggers
  readonly accessLog: AccessLog
  readonly ledger: Ledger
  readonly outboundAllow: OutboundAllow
  /** All addresses of a host name; default: the system's resolver. */
  readonly resolve?: Resolve | undefined
  readonly files: Pick<FileStore, 'searchOf'>
  readonly metrics: Metrics
  readonly stores: Pick<BodyStores, 'contents' | 'exportContents' | 'carrierOf'>
  now(): number
}

/** Creates the dependencies of every generation. */
export function createRun({
  config,
  loggers,
  accessLog,
  ledger,
  outboundAllow,
  resolve,
  files,
  stores,
  metrics,
  now,
}: RunParts): RunDeps {
  const ticker = createTicker(now)
  const documents = createDocumentReader()
  const measurements = createMeasurements(now)
  const retries = createRetryBudget(now)
  const health = createHealth({
    clock: now,
    random: Math.random,
    mayRetry: retries.hasLeft,
    onChange: (change) => logHealth(loggers, change),
  })
  const maxBytes = config.responseCacheMb * MEGABYTE
  return {
    now,
    random: Math.random,
    wait: sleep,
    fetchContent: contentFetcher(outboundAllow),
    web: openWeb({ config, documents, outboundAllow, resolve, now }),
    approvedCalls: createApprovedCalls(now),
    mcp: createMcpAccess({ servers: config.mcpServers, resolve, now, log: loggers.server }),
    tokenPool: createTokenPool(),
    documents,
    fileModels: { ocr: config.ocrModel, embedding: config.embeddingModel },
    filesOf: files.searchOf,
    upstream: createUpstream({ maxInFlight: config.maxInFlight }),
    tokens: createTokens(),
    health: metered(health, measurements),
    retries,
    hedgeMs: config.hedgeMs,
    measurements,
    conversations: createConversations(now),
    plugins,
    cache: maxBytes > 0 ? createResponseCache({ maxBytes, now, ticker }) : null,
    contexts: config.contextCache ? createContextStore(now) : null,
    carrierOf: stores.carrierOf,
    ledger,
    rates: createRates(now),
    running: createRunning(),
    toolBounds: {
      steps: config.toolSteps,
      callMs: config.toolCallSeconds * 1000,
      totalMs: config.toolSeconds * 1000,
    },
    ticker,
    contents: stores.contents,
    metrics,
    exportContents: stores.exportContents,
    onSettled(settlement, caller, incoming) {
      measurements.settled(settlement)
      logSettled(accessLog, settlement, caller, incoming)
      logAttempts(loggers, settlement, incoming)
    },
    onLost: (error, generationId, trace) => logLost(loggers, error, generationId, trace),
  }
}

/** Resolves after `ms`. Rejects with the signal's reason if it aborts. */
function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal.aborted) return reject(signal.reason)
    const onAbort = (): void => {
      clearTimeout(timer)
      reject(signal.reason)
    }
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', onAbort)
      resolve()
    }, ms)
    signal.addEventListener('abort', onAbort, { once: true })
  })
}

/**
 * Logs a settled generation: key, model, times, cost; never a secret or a prompt. The fields are part of the request's
 * line, or of a second line if that was written already: streams and background runs end later.
 */
export function logSettled(log: AccessLog, settlement: Settlement, caller: Caller, incoming: Incoming): void {
  const { requestId, latencyMs, generationTimeMs } = settlement
  const id = `"generation_id":"${settlement.generationId}"`
  const rest = settledMembers(settlement)
  // The request's own line names the key already.
  if (noteSettled(incoming, `${id},${rest}`)) return
  const totalMs = numeral(Math.round(latencyMs + generationTimeMs))
  log.request(
    `"request_id":"${requestId}","trace_id":"${incoming.trace.traceId}","status":200,"total_ms":${totalMs},${id},"key":${quoted(caller.key.label)},${rest}`,
  )
}

function settledMembers(settlement: Settlement): string {
  const { usage, finishReason, responseCacheSourceId, tries } = settlement
  const lastTry = tries.at(-1)
  const hasContent = responseCacheSourceId !== undefined || (lastTry !== undefined && gaveContent(lastTry))
  const promptTokens = usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens
  const cancelled = settlement.cancelled ? ',"cancelled":true' : ''
  const byok = settlement.isByok ? ',"byok":true' : ''
  const cachedFrom = responseCacheSourceId ? `,"cached_from":${quoted(responseCacheSourceId)}` : ''
  return (
    `"model":${quoted(settlement.modelId)},"provider":${quoted(settlement.providerSlug)},` +
    `"finish":${finishReason === null ? 'null' : quoted(finishReason)}${cancelled}${byok}${cachedFrom},` +
    `"streamed":${settlement.streamed},` +
    `"first_token_ms":${hasContent ? numeral(Math.round(settlement.latencyMs)) : null},` +
    `"prompt_tokens":${numeral(promptTokens)},` +
    `"completion_tokens":${numeral(usage.outputTokens + usage.reasoningTokens)},` +
    `"cost_usd":${numeral(settlement.costNanoUsd / 1e9)}`
  )
}
