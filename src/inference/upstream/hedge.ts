import type { Attempt } from '../../core/attempt.ts'
import { type Cancellation, cancel, newCancellation, onCancel, signalOf } from '../../core/cancellation.ts'
import { GatewayError, type UpstreamError } from '../../core/errors.ts'
import type { AttemptOutcome } from '../../core/generation.ts'
import { newGenerationId } from '../../core/ids.ts'
import type { RoutedRequest } from '../../core/request.ts'
import { pricingOf } from '../admission/fit.ts'
import { tierOf } from '../admission/tier.ts'
import { noted } from '../export-note.ts'
import type { Generation, Opening, RunDeps } from '../generation.ts'
import { heldFor, journalAttempt, journalEntry } from '../journal-entry.ts'
import { createMeter } from '../reply/meter.ts'
import { isShut } from '../routing/plan.ts'
import { addStep, newStepTotals, stepOpening } from '../steps/family.ts'
import { CallerDisconnected, HedgeLostError } from './abort.ts'
import { asUpstreamError, outcomeOf } from './failure.ts'

/**
 * A second endpoint beside one that has given no content for some time. Each of the two is a generation of its own for as
 * long as both run: with its own reservation, journal row, attempts and cancellation. The first with content becomes the
 * caller's generation; the other is aborted and settled as a step of it, `hedge`.
 */

/** After how many milliseconds without content a second endpoint is called; 0: never. */
export const hedgeMsOf = ({ preferences }: RoutedRequest, { hedgeMs }: Pick<RunDeps, 'hedgeMs'>): number =>
  preferences.hedgeMs ?? hedgeMs

/** The opening of a request that may be hedged: the cost of the other endpoint is added to the reply's. */
export const hedgeable = <Request extends RoutedRequest>(
  opening: Opening<Request>,
  deps: RunDeps,
): Opening<Request> =>
  opening.steps !== undefined || hedgeMsOf(opening.request, deps) === 0
    ? opening
    : { ...opening, steps: newStepTotals() }

export interface Racing<Answer, Run extends Generation> {
  readonly attempt: Attempt
  readonly generation: Run
  /** The attempts after this one. The second endpoint is removed from it when it is called. */
  readonly queue: Attempt[]
  /** Resolves at the first content. Records the attempt in `tries` of its generation. */
  run(attempt: Attempt, generation: Run): Promise<Answer>
  /** One of two endpoints failed, and the other one runs on or failed too. */
  failed(attempt: Attempt, error: UpstreamError, began: number, outcome: AttemptOutcome | undefined): void
}

type Ended<Answer> =
  | { readonly isAnswer: true; readonly answer: Answer }
  | { readonly isAnswer: false; readonly error: unknown }

/** One of the two calls. */
interface Leg<Answer, Run extends Generation> {
  readonly attempt: Attempt
  readonly generation: Run
  readonly began: number
  readonly startedAt: number
  /** Never rejects. */
  readonly ended: Promise<Ended<Answer>>
}

/** The answer of the first endpoint, or of a second one that is called beside it. Rejects with the error of the first. */
export async function raced<Answer, Run extends Generation>(
  racing: Racing<Answer, Run>,
  began: number,
): Promise<Answer> {
  const { attempt, generation } = racing
  const first = started(racing, attempt, legOf(generation), began)
  const isSlow = await isWithoutContent(first, generation)
  const spare = isSlow ? openSpare(racing, first.generation.contents) : null
  if (spare === null) return adopted(generation, first, await first.ended)
  const second = started(
    racing,
    spare.attempt,
    spare.generation,
    generation.deps.health.trying(spare.attempt),
  )
  return settledRace(racing, first, second)
}

async function settledRace<Answer, Run extends Generation>(
  racing: Racing<Answer, Run>,
  first: Leg<Answer, Run>,
  second: Leg<Answer, Run>,
): Promise<Answer> {
  const { generation, failed } = racing
  const legs = [first, second]
  const earlier = await Promise.race(legs.map((leg) => leg.ended.then(() => leg)))
  const later = earlier === first ? second : first
  const ended = await earlier.ended
  if (ended.isAnswer) {
    cancel(later.generation.cancellation, new HedgeLostError())
    return won(generation, earlier, later, second, ended)
  }
  const last = await later.ended
  // Reported by the caller of `raced` for the first, if both failed.
  const losing = last.isAnswer ? earlier : second
  const lost = losing === earlier ? ended : last
  const upstream = lost.isAnswer ? null : asUpstreamError(lost.error)
  if (upstream && generation.cancellation.reason === null)
    failed(losing.attempt, upstream, losing.began, losing.generation.tries.at(-1))
  if (last.isAnswer) return won(generation, later, earlier, second, last)
  settleLoser(
    second.generation,
    second,
    generation.cancellation.reason instanceof CallerDisconnected ? 'disconnected' : 'failed',
  )
  generation.tries.push(...second.generation.tries)
  return adopted(generation, first, earlier === first ? ended : last)
}

/** The winner's state becomes that of the caller's generation. The other one takes the reservation of `spare`. */
function won<Answer, Run extends Generation>(
  generation: Run,
  winner: Leg<Answer, Run>,
  loser: Leg<Answer, Run>,
  spare: Leg<Answer, Run>,
  ended: Ended<Answer>,
): Answer {
  const isFailed = loser.generation.cancellation.reason === null
  generation.tries.push(
    ...(isFailed
      ? loser.generation.tries
      : [abortedOutcome(loser.attempt, loser.startedAt, generation.deps.now())]),
  )
  const answer = adopted(generation, winner, ended)
  if (winner === spare) journalAttempt(generation, winner.attempt)
  settleLoser(spare.generation, loser, isFailed ? 'failed' : 'disconnected')
  return answer
}

function started<Answer, Run extends Generation>(
  { run }: Racing<Answer, Run>,
  attempt: Attempt,
  generation: Run,
  began: number,
): Leg<Answer, Run> {
  const startedAt = generation.deps.now()
  const ended = run(attempt, generation).then(
    (answer): Ended<Answer> => ({ isAnswer: true, answer }),
    (error: unknown): Ended<Answer> => ({ isAnswer: false, error }),
  )
  return { attempt, generation, began, startedAt, ended }
}

/** A generation for one call: what the call writes is its own, and it is cancelled with the caller's. */
function legOf<Run extends Generation>(generation: Run, more: Partial<Generation> = {}): Run {
  const cancellation: Cancellation = newCancellation()
  onCancel(generation.cancellation, (reason) => cancel(cancellation, reason))
  return { ...generation, cancellation, tries: [], times: { ...generation.times }, ...more }
}

/** Takes over what a call wrote. Returns its answer, or throws its error. */
function adopted<Answer, Run extends Generation>(
  generation: Run,
  { generation: leg }: Leg<Answer, Run>,
  ended: Ended<Answer>,
): Answer {
  const { current, isSent, dropped, replyStartedAt, contents, context, suspect, refused, shortened } = leg
  const { times, tries } = leg
  generation.tries.push(...tries)
  Object.assign(generation, {
    current,
    isSent,
    dropped,
    replyStartedAt,
    contents,
    context,
    suspect,
    refused,
    shortened,
  })
  generation.times.repliedAt = times.repliedAt
  generation.times.contentAt = times.contentAt
  if (!ended.isAnswer) throw ended.error
  return ended.answer
}

/** False if the call ended first, or was cancelled. */
async function isWithoutContent<Answer, Run extends Generation>(
  { ended }: Leg<Answer, Run>,
  { deps, request, cancellation }: Run,
): Promise<boolean> {
  const waiting = newCancellation()
  const passed = deps.wait(hedgeMsOf(request, deps), signalOf(waiting)).then(
    () => true,
    () => false,
  )
  const isSlow = await Promise.race([ended.then(() => false), passed])
  cancel(waiting, new HedgeLostError())
  return isSlow && cancellation.reason === null
}

/**
 * A further endpoint of the same model, with a reservation as large as the first one's; null if there is none that may be
 * called, no retry is left, or it takes more than a quarter of what a limit has left.
 */
function openSpare<Answer, Run extends Generation>(
  { attempt, generation, queue }: Racing<Answer, Run>,
  contents: Generation['contents'],
): { attempt: Attempt; generation: Run } | null {
  const { deps, plan, admission, opening, caller } = generation
  const at = queue.findIndex(
    (other) =>
      other.endpoint.id !== attempt.endpoint.id &&
      other.model.id === attempt.model.id &&
      !isShut(other, plan, deps.health.cooldownOf),
  )
  const second = queue[at]
  const { parent, steps } = opening
  if (second === undefined || steps === undefined || !deps.retries.hasLeft()) return null
  const id = newGenerationId()
  const startedAt = deps.now()
  const { amountNanoUsd, sharedNanoUsd = amountNanoUsd } = admission.hold
  const gates = caller.key.spendingGates ?? []
  const isRoomy = amountNanoUsd <= deps.ledger.remaining(gates, startedAt).nanoUsd * MOST_SHARE
  const hold =
    isRoomy &&
    reserved(() => deps.ledger.reserve({ generationId: id, gates, amountNanoUsd, sharedNanoUsd, startedAt }))
  if (!hold) return null
  deps.retries.take()
  queue.splice(at, 1)
  const family = {
    ...opening,
    id: parent?.id ?? generation.id,
    request: parent?.request ?? opening.request,
    steps,
  }
  const step = { ...opening, ...stepOpening(family, 'hedge', startedAt) }
  const spare = legOf(generation, {
    id,
    opening: step,
    startedAt,
    admission: { ...admission, hold, rates: undefined },
    contents,
    current: null,
    isSent: false,
    context: null,
    suspect: null,
    refused: null,
    shortened: null,
  })
  journalAttempt(spare, second)
  return { attempt: second, generation: spare }
}

/** Of the remaining budget; the rest is for requests that have no endpoint yet. */
const MOST_SHARE = 1 / 4

/** Null: a limit has no room, or nothing can be written now. */
function reserved<Hold>(reserve: () => Hold): Hold | null {
  try {
    return reserve()
  } catch (error) {
    if (error instanceof GatewayError) return null
    throw error
  }
}

const abortedOutcome = (attempt: Attempt, startedAt: number, endedAt: number): AttemptOutcome =>
  outcomeOf(attempt, null, null, 'hedged', { startedAt, endedAt })

/**
 * The row of the call that lost, with the reservation of `spare`: free if it failed, else charged as a disconnect is, if
 * the provider had accepted it.
 */
function settleLoser<Answer, Run extends Generation>(
  spare: Run,
  { attempt, generation: leg, startedAt }: Leg<Answer, Run>,
  ending: 'failed' | 'disconnected',
): void {
  const { id, deps, opening, admission, plan, startedAt: reservedAt } = spare
  const endedAt = deps.now()
  leg.context?.settled(null)
  const tries = leg.tries.length > 0 ? leg.tries : [abortedOutcome(attempt, startedAt, endedAt)]
  const settled = createMeter(deps.now, reservedAt).settlement(ending, {
    journal: journalEntry(id, opening, admission, attempt),
    attempt,
    tries,
    isSent: leg.isSent,
    pricing: pricingOf(attempt),
    unreportedTier: tierOf(attempt, admission, leg.dropped),
    holdNanoUsd: heldFor(attempt, admission),
    router: plan.strategy,
    routing: null,
    endedAt,
  })
  const { cost } = settled
  const settlement = noted(settled, spare)
  addStep(opening, settlement.isByok ? 0 : cost.totalNanoUsd)
  deps.ledger.settle(admission.hold, settlement).then(
    () => {
      deps.onSettled(settlement, spare.caller, opening.incoming)
      const { traceId } = opening.incoming.trace
      deps.metrics.settled(settlement, spare.caller, { overhead: null, savedNanoUsd: 0, traceId })
    },
    (error: unknown) => deps.onLost(error, id, opening.incoming.trace),
  )
}
