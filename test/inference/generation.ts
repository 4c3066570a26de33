import type { Attempt } from '../../src/core/attempt.ts'
import type { Caller } from '../../src/core/caller.ts'
import { newCancellation } from '../../src/core/cancellation.ts'
import type { Snapshot } from '../../src/core/snapshot.ts'
import { createBodyBudget, leaseBody } from '../../src/http/body-budget.ts'
import { openIncoming } from '../../src/http/incoming.ts'
import type { Conversation, RunDeps } from '../../src/inference/generation.ts'
import { journalEntry } from '../../src/inference/journal-entry.ts'
import { createMeter, type Ending } from '../../src/inference/reply/meter.ts'
import type { Ticker } from '../../src/inference/reply/ticker.ts'
import type { PlanInput } from '../../src/inference/routing/plan-input.ts'
import { createConversations } from '../../src/inference/routing/stickiness.ts'
import { newTimes } from '../../src/inference/times.ts'
import { createApprovedCalls } from '../../src/inference/tools/approved-calls.ts'
import { NO_METRICS } from '../../src/metrics/metrics.ts'
import { createTokens } from '../../src/providers/token.ts'
import { createMcpAccess } from '../../src/tools/mcp/access.ts'
import { REQUEST } from '../dialects/request.ts'
import { noFiles, noWeb } from '../tools/context.ts'
import { directory, key, snapshot, workspace } from './fixture.ts'

export interface Watched {
  /** In place of the ledger. */
  settle(ending: Ending): Promise<void>
  end(): void
  onLost(error: unknown): void
  ticker: Ticker
}

const never = (): never => {
  throw new Error('not called here')
}

const health: RunDeps['health'] = {
  cooldownOf: () => null,
  isWell: () => true,
  trying: () => 0,
  succeeded: () => undefined,
  failed: () => undefined,
  forget: () => undefined,
  forgetUnknown: () => undefined,
  troubled: () => [],
}

/** What surrounds a generation; `settle` is called once it has ended. */
const depsOf = (watched: Watched, settle: () => ReturnType<Watched['settle']>): RunDeps => ({
  upstream: { send: never, inFlight: () => 0, inFlightByEndpoint: new Map(), close: () => undefined },
  health,
  hedgeMs: 0,
  retries: { countRequest: () => undefined, hasLeft: () => true, take: () => true },
  tokens: createTokens(),
  now: Date.now,
  random: Math.random,
  wait: never,
  web: noWeb,
  filesOf: () => noFiles,
  documents: { read: () => Promise.reject(new Error('there is no reader')), close: () => undefined },
  fileModels: { ocr: 'mistral-ocr', embedding: null },
  approvedCalls: createApprovedCalls(() => 0),
  mcp: createMcpAccess({ servers: [], now: () => 0 }),
  tokenPool: { run: () => Promise.reject(new Error('there is no tokenizer')), close: () => undefined },
  fetchContent: never,
  contexts: null,
  plugins: [],
  ledger: {
    remaining: never,
    reserve: never,
    claim: never,
    release: () => undefined,
    journal: () => undefined,
    settle,
    usageOf: never,
    organizationUsage: async () => 0,
    heldNanoUsd: () => 0,
    isWritable: () => true,
    hasBacklog: () => false,
    hasRoom: () => true,
    waiting: () => 0,
    usedNanoUsd: () => 0,
    fold: () => true,
    close: async () => undefined,
  },
  rates: { check: () => null, held: () => 0 },
  running: {
    begin: () => undefined,
    end: () => watched.end(),
    count: () => 0,
    isDraining: () => false,
    drain: async () => undefined,
  },
  toolBounds: { steps: 10, callMs: 1_000, totalMs: 10_000 },
  ticker: watched.ticker,
  measurements: { of: () => null, recentOf: () => undefined },
  conversations: createConversations(Date.now),
  contents: { add: () => undefined },
  metrics: NO_METRICS,
  exportContents: { add: () => undefined },
  carrierOf: never,
  cache: null,
  onSettled: () => undefined,
  onLost: watched.onLost,
})

const inputOf = (caller: Caller, snapshot: Snapshot): PlanInput => ({
  request: REQUEST,
  caller,
  snapshot,
  now: 0,
  cooldownOf: () => null,
  random: () => 0.5,
})

const HOLD = { generationId: 'gen-1', amountNanoUsd: 1_000 }

/** A generation that was let in, with everything behind it but its ledger left out. */
export function generationWith(attempt: Attempt, watched: Watched): Conversation {
  let last: Ending = 'failed'
  const meter = createMeter(Date.now, 0)
  const deps = depsOf(watched, () => watched.settle(last))
  const caller = { key: key(), workspace: workspace() }
  const opening = {
    incoming: openIncoming(new Request('http://localhost/'), leaseBody(createBodyBudget(1_000_000))),
    snapshot: snapshot([attempt.provider], directory([attempt.model])),
    caller,
    origin: { requestId: 'req-1', httpReferer: '', title: '', origin: '', userAgent: '' },
    request: REQUEST,
    wantsMetadata: false,
    signal: new AbortController().signal,
    startedAt: 0,
  }
  const attempts = [attempt]
  const admission = { hold: HOLD, attempts, promptTokensEstimate: 1 }
  return {
    id: 'gen-1',
    deps,
    opening,
    loop: null,
    request: REQUEST,
    caller,
    startedAt: 0,
    wantsMetadata: false,
    plan: {
      attempts,
      requested: attempt.model.id,
      strategy: 'direct',
      eligible: attempts,
      considered: attempts.length,
      sort: undefined,
      input: inputOf(caller, opening.snapshot),
    },
    times: newTimes(0),
    admission,
    attempts,
    cached: undefined,
    meter: {
      ...meter,
      settlement(ending, context) {
        last = ending
        return meter.settlement(ending, context)
      },
    },
    cancellation: newCancellation(),
    content: null,
    journal: journalEntry('gen-1', opening, admission, attempt),
    tries: [],
    sentBodies: null,
    current: attempt,
    isSent: true,
    replyStartedAt: null,
    contents: null,
    contextOwner: null,
    context: null,
    suspect: null,
    shortened: null,
    refused: null,
    isCounted: false,
    dropped: [],
    answered: null,
    onComplete: null,
    settling: null,
  }
}
