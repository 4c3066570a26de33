import { cancel, newCancellation, signalOf } from '../../core/cancellation.ts'
import type { Paid, Payment } from '../../core/facilities.ts'
import type { JournalEntry, Settlement } from '../../core/generation.ts'
import { newGenerationId } from '../../core/ids.ts'
import { NO_USAGE } from '../../core/usage.ts'
import { withoutNote } from '../export-note.ts'
import type { RunDeps } from '../generation.ts'
import { callersFields } from '../journal-entry.ts'
import { CallerDisconnected, ShutdownError } from '../upstream/abort.ts'
import { callerClosed, shuttingDown } from '../upstream/failure.ts'
import { type Family, stepOpening } from './family.ts'

type Run<Value> = (signal: AbortSignal) => Promise<Paid<Value>>

/**
 * Makes a call that costs money: reserves the most that it can cost, journals it, runs it and settles what it cost, as a
 * row of its own. A call that fails is free. One that is cancelled is charged as reserved, because it may be billed.
 */
export async function pay<Value>(
  family: Family,
  payment: Payment,
  run: Run<Value>,
  deps: RunDeps,
): Promise<Value> {
  const { running } = deps
  const { signal } = family
  const cancellation = newCancellation()
  const leave = (): void => cancel(cancellation, new CallerDisconnected())
  running.begin(cancellation)
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await paidFor(family, payment, run, signalOf(cancellation), deps)
  } catch (error) {
    if (error instanceof CallerDisconnected) throw callerClosed(error)
    throw error instanceof ShutdownError ? shuttingDown(error) : error
  } finally {
    signal.removeEventListener('abort', leave)
    running.end(cancellation)
  }
}

async function paidFor<Value>(
  family: Family,
  payment: Payment,
  run: Run<Value>,
  signal: AbortSignal,
  deps: RunDeps,
): Promise<Value> {
  const { ledger } = deps
  const { atMostNanoUsd } = payment
  const entry = entryOf(family, payment, deps.now())
  const { hold } = await ledger.claim({
    generationId: entry.generationId,
    gates: family.caller.key.spendingGates ?? [],
    startedAt: entry.startedAt,
    signal,
    need: () => ({ amountNanoUsd: atMostNanoUsd, sharedNanoUsd: atMostNanoUsd }),
  })
  if (signal.aborted) {
    ledger.release(hold)
    throw signal.reason
  }
  ledger.journal(entry)
  const ended = await run(signal).catch((error: unknown) => ({ error }))
  const ending = endingOf(ended, atMostNanoUsd, signal)
  const settlement = withoutNote(settlementOf(entry, ending, deps), family)
  await ledger.settle(hold, settlement)
  const { traceId } = family.incoming.trace
  deps.metrics.settled(settlement, family.caller, { overhead: null, savedNanoUsd: 0, traceId })
  add(family, ending)
  if ('error' in ended) throw signal.aborted ? signal.reason : ended.error
  return ended.value
}

interface Ending extends Pick<Settlement, 'costNanoUsd' | 'cancelled' | 'finishReason' | 'counts'> {}

function endingOf<Value>(
  ended: Paid<Value> | { error: unknown },
  mostNanoUsd: number,
  { aborted }: AbortSignal,
): Ending {
  if (!('error' in ended)) {
    const { costNanoUsd, counts } = ended
    return { costNanoUsd, counts, cancelled: false, finishReason: 'stop' }
  }
  return { costNanoUsd: aborted ? mostNanoUsd : 0, cancelled: aborted, finishReason: 'error' }
}

/** Adds the call to the totals that its parent shows. */
function add({ steps }: Family, { costNanoUsd, counts = {} }: Ending): void {
  steps.costNanoUsd += costNanoUsd
  steps.tools.costNanoUsd += costNanoUsd
  steps.tools.searches += counts.searches ?? 0
}

/** The row that is settled if the process crashes during the call. */
function entryOf(
  family: Family,
  { kind, name, engine, atMostNanoUsd }: Payment,
  startedAt: number,
): JournalEntry {
  return {
    ...callersFields(stepOpening(family, kind, startedAt), family.request),
    generationId: newGenerationId(),
    modelId: name,
    providerSlug: engine,
    providerName: engine,
    endpointId: `${engine}/${name}`,
    apiType: 'tool',
    streamed: false,
    isByok: false,
    promptTokensEstimate: 0,
    promptCostNanoUsd: atMostNanoUsd,
  }
}

function settlementOf(entry: JournalEntry, ending: Ending, { now }: RunDeps): Settlement {
  const endedAt = now()
  return {
    ...entry,
    ...ending,
    upstreamId: null,
    nativeFinishReason: null,
    usage: NO_USAGE,
    usageSource: ending.cancelled ? 'estimated' : 'none',
    cacheDiscountNanoUsd: null,
    latencyMs: endedAt - entry.startedAt,
    generationTimeMs: 0,
    endedAt,
    serviceTier: null,
    router: 'direct',
    routing: null,
    tries: [],
  }
}
