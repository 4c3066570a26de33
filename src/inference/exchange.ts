import type { Attempt } from '../core/attempt.ts'
import type { Caller, RequestOrigin } from '../core/caller.ts'
import type { JournalEntry, Settlement } from '../core/generation.ts'
import type { ContentLog, EndedContent } from '../core/generation-content.ts'
import { retainsNothing } from '../core/guardrail.ts'
import type { RoutedRequest } from '../core/request.ts'
import type { Closing, RoutingMetadata } from '../core/result.ts'
import { completionTokens, NO_USAGE, promptTokens } from '../core/usage.ts'
import type { Incoming } from '../http/incoming.ts'
import type { Ledger } from '../ledger/ledger.ts'
import type { Admission } from './admission.ts'
import type { DispatchLog } from './attempts.ts'
import { atNoCost } from './cache/free.ts'
import type { Lookup } from './cache/lookup.ts'
import { type ContentRecord, recordFor } from './content/record.ts'
import { pricingOf } from './fit.ts'
import { labelsOf } from './labels.ts'
import type { Ending, Meter, Metering, Settled } from './meter.ts'
import type { Plan } from './plan.ts'
import { type Cost, costOf } from './price.ts'
import { routingMetadata } from './routing-metadata.ts'

export interface ExchangeInput<Kind extends Metering> {
  caller: Caller
  incoming: Incoming
  origin: RequestOrigin
  request: RoutedRequest
  plan: Plan
  wantsMetadata: boolean
  startedAt: number
  generationId: string
  /** What is reserved for it. */
  admission: Admission
  meter: Kind
  /** Absent: the cache has nothing to do with it. */
  cached?: Lookup | undefined
}

/** One generation from its reservation to its settlement. Whatever happens, it settles exactly once. */
export interface Exchange<Kind extends Metering = Meter> {
  readonly generationId: string
  readonly startedAt: number
  readonly meter: Kind
  readonly attempts: Attempt[]
  readonly log: DispatchLog
  /** What is logged of it; null: its workspace logs nothing of it. */
  readonly content: ContentRecord | null
  readonly cached?: Lookup | undefined
  /** The caller's parameters that the answering endpoint could not carry. */
  dropped: string[]
  /** Called where the answer came to its end, once its row is committed: what names the row comes after it. */
  onWhole: (() => void) | null
  /** Resolves once the row is committed. A second call answers the first one's settlement. */
  settle(ending: Ending): Promise<Closing>
  /** How it was routed, for a caller who opted in. */
  metadata(): RoutingMetadata | null
}

export interface ExchangeDeps {
  ledger: Ledger
  now(): number
  onSettled(settlement: Settlement, caller: Caller, incoming: Incoming): void
  /** Where contents go that a workspace logs. */
  contents: Pick<ContentLog, 'add'>
  onLost(error: unknown, generationId: string): void
}

/** Journals what is reserved. */
export function openExchange<Kind extends Metering>(
  input: ExchangeInput<Kind>,
  deps: ExchangeDeps,
): Exchange<Kind> {
  const { caller, plan, startedAt, meter, cached, generationId, admission } = input
  const journal = journalEntry(generationId, input, admission, firstOf(admission.attempts))
  deps.ledger.journal(journal)

  const log: DispatchLog = {
    tries: [],
    sentBodies: [],
    current: null,
    // A crash is charged to who has the request then.
    onFailOver: (attempt) => deps.ledger.journal(journalEntry(generationId, input, admission, attempt)),
    isAsked: false,
    contents: new Map(),
    contextOwner: retainsNothing(caller.key) ? null : caller.workspace.id,
    context: null,
    body: input.incoming.body,
  }
  const content = recordFor({ caller, request: input.request, generationId, log })
  let settled: Promise<Closing> | null = null
  let answered: Attempt | null = null

  const metadata = (): RoutingMetadata | null =>
    input.wantsMetadata
      ? routingMetadata(
          plan,
          log.tries,
          answered,
          exchange.dropped,
          boundOf(admission.attempts, answered),
          pipelineOf(input.request, meter),
        )
      : null

  /** What it came to. The rates are free again whatever comes of it. */
  function settledBy(ending: Ending, attempt: Attempt): Settled {
    const { rates } = admission
    let tokens = 0
    try {
      const counted = meter.settlement(ending, {
        journal,
        attempt,
        tries: log.tries,
        isAsked: log.isAsked,
        pricing: pricingOf(attempt),
        holdNanoUsd: heldFor(attempt, admission),
        router: plan.strategy,
        endedAt: deps.now(),
      })
      const settled = cached?.hit ? atNoCost(counted, cached.hit.answer) : counted
      const { usage } = settled.settlement
      tokens = promptTokens(usage) + completionTokens(usage)
      return settled
    } finally {
      rates?.end({
        tokens,
        modelId: attempt.model.id,
        triedModelIds: log.tries.map(({ modelId }) => modelId),
      })
    }
  }

  async function settleOnce(ending: Ending): Promise<Closing> {
    const attempt = log.current ?? firstOf(admission.attempts)
    if (ending === 'whole') answered = attempt
    const said = content && ended(content, ending)
    const { settlement, cost } = settledBy(ending, attempt)
    try {
      await deps.ledger.settle(admission.hold, settlement)
    } catch (error) {
      log.context?.settled(null)
      throw error
    }
    log.context?.settled(ending === 'failed' ? null : countedOf(settlement))
    if (ending === 'whole') exchange.onWhole?.()
    if (said) deps.contents.add(said)
    deps.onSettled(settlement, caller, input.incoming)
    return {
      finishes: meter.finishes,
      completed: Math.floor(settlement.endedAt / 1000),
      usage: settlement.usage,
      ...chargeOf(settlement.isByok, cost),
      isByok: settlement.isByok,
      serviceTier: settlement.serviceTier,
      serviceMetadata: metadata(),
    }
  }

  /** No answer fails because it cannot be logged. */
  function ended(record: ContentRecord, ending: Ending): EndedContent | null {
    try {
      return record.end(ending)
    } catch (error) {
      deps.onLost(error, generationId)
      return null
    }
  }

  const exchange: Exchange<Kind> = {
    generationId,
    startedAt,
    meter,
    log,
    content,
    attempts: admission.attempts,
    cached,
    dropped: [],
    onWhole: null,
    settle: (ending) => {
      settled ??= settleOnce(ending)
      return settled
    },
    metadata,
  }
  return exchange
}

/** The usage, where what was read and written is the provider's figure. */
const countedOf = ({ usage, usageSource }: Settlement) =>
  usageSource === 'provider' || usage.writtenApartTokens !== undefined ? usage : null

/** What the caller is told of money: its own account at the provider is charged by the provider, not by us. */
function chargeOf(isByok: boolean, { totalNanoUsd, promptNanoUsd, completionNanoUsd }: Cost) {
  return isByok
    ? // Fees stand with the answer, so that the parts are the whole of what the provider charges.
      {
        costNanoUsd: 0,
        promptCostNanoUsd: promptNanoUsd,
        completionCostNanoUsd: totalNanoUsd - promptNanoUsd,
      }
    : {
        costNanoUsd: totalNanoUsd,
        promptCostNanoUsd: promptNanoUsd,
        completionCostNanoUsd: completionNanoUsd,
      }
}

const heldFor = ({ ownKey }: Attempt, { hold }: Admission): number =>
  ownKey === undefined ? (hold.sharedNanoUsd ?? hold.amountNanoUsd) : hold.amountNanoUsd

/** What was done to the request, and then to the answer. */
function pipelineOf({ pipeline: asked }: RoutedRequest, { pipeline: answered = [] }: Metering) {
  return answered.length === 0 ? asked : [...(asked ?? []), ...answered]
}

/** The bound that money set for who answered; of a request that nobody answered, for whom it set one. */
const boundOf = (attempts: readonly Attempt[], answered: Attempt | null): number | null =>
  (answered ?? attempts.find(({ outputBound }) => outputBound !== undefined))?.outputBound ?? null

/** A plan is never empty; the assertion keeps the types honest. */
function firstOf(attempts: readonly Attempt[]): Attempt {
  const first = attempts[0]
  if (!first) throw new Error('a plan without attempts')
  return first
}

function journalEntry(
  generationId: string,
  input: Omit<ExchangeInput<Metering>, 'meter' | 'generationId' | 'admission'>,
  admission: Admission,
  attempt: Attempt,
): JournalEntry {
  const { caller, origin, request, startedAt } = input
  const labels = labelsOf(request)
  const promptOnly = admission.promptOnly ?? { ...NO_USAGE, inputTokens: admission.promptTokensEstimate }
  return {
    generationId,
    keyHash: caller.key.hash,
    workspaceId: caller.workspace.id,
    modelId: attempt.model.id,
    providerSlug: attempt.provider.slug,
    providerName: attempt.provider.name,
    endpointId: attempt.endpoint.id,
    apiType: request.apiType,
    streamed: request.stream,
    isByok: attempt.ownKey !== undefined,
    origin: origin.origin,
    httpReferer: origin.httpReferer,
    title: origin.title,
    userAgent: origin.userAgent,
    requestId: origin.requestId,
    sessionId: request.sessionId ?? null,
    presetId: request.presetId ?? null,
    ...(request.pipeline && { guardrails: request.pipeline }),
    externalUser: request.user ?? null,
    ...(labels && { labels }),
    startedAt,
    promptTokensEstimate: admission.promptTokensEstimate,
    ...(admission.promptMedia && { promptMedia: admission.promptMedia }),
    promptCostNanoUsd: Math.min(
      heldFor(attempt, admission),
      costOf(promptOnly, pricingOf(attempt)).totalNanoUsd,
    ),
  }
}
