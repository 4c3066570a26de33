import type { DestinationKind } from '../exporters/kind.ts'
import type { ExportRecord } from '../exporters/record.ts'
import { deliver, encode, type Outcome } from './deliver.ts'
import { type Gathered, gather, nothingGathered } from './gather.ts'
import { gatherDepsOf, LATER_MS, type LaneState, leave, pauseLane, type Track } from './lane-state.ts'
import type { Plan } from './stretch.ts'

const LEAST_WAIT_MS = 1_000

/** Sends one batch; without `given` it is read again. */
export async function run(
  lane: LaneState,
  kind: DestinationKind,
  track: Track,
  plan: Plan,
  given?: Gathered,
): Promise<void> {
  plan.state = 'sending'
  lane.inFlight += 1
  try {
    const gathered = given ?? (await reread(lane, kind, track, plan))
    if (gathered === null) return
    if (gathered.items.length === 0) {
      complete(lane, track, plan, gathered)
      return
    }
    const context = contextOf(lane, plan, gathered)
    const batch = await encode(kind, recordsOf(gathered, plan), context)
    const sent = withoutRecords(gathered)
    const outcome =
      'calls' in batch ? await deliver(lane.deps, kind, batch, context, lane.controller.signal) : batch
    judge(lane, track, plan, sent, outcome)
  } catch (error) {
    plan.state = 'waiting'
    failed(lane, unreadable(error), null)
  } finally {
    lane.inFlight -= 1
    leave(lane)
    lane.more()
  }
}

/** The records of a plan; null: the plan was replaced, or cannot be read yet. */
async function reread(
  lane: LaneState,
  kind: DestinationKind,
  track: Track,
  plan: Plan,
): Promise<Gathered | null> {
  const { stretch } = track
  const gathered = nothingGathered(plan.after)
  const upTo = plan.last
  const verdict = await gather(gatherDepsOf(lane), gathered, { ...lane, stretch, kind, upTo })
  if (verdict === 'later') {
    plan.state = 'waiting'
    block(lane, LATER_MS)
    return null
  }
  if (verdict === 'full' && gathered.last < upTo) {
    stretch.replace(plan, halvesOf(plan, gathered.last))
    return null
  }
  return gathered
}

const recordsOf = ({ items }: Gathered, { isBare }: Plan): ExportRecord[] =>
  items.map(({ record }) => (isBare ? withoutContent(record) : record))

/** A batch that is being sent. */
interface Sent extends Pick<Gathered, 'dropped' | 'passed'> {
  readonly items: readonly { readonly position: number; readonly id: string; readonly hasContent: boolean }[]
}

const withoutRecords = ({ items, dropped, passed }: Gathered): Sent => ({
  items: items.map(({ position, record: { id, content } }) => ({
    position,
    id,
    hasContent: content !== null,
  })),
  dropped,
  passed,
})

const contextOf = (lane: LaneState, plan: Plan, { items }: Gathered) => ({
  destinationId: lane.destination.id,
  config: lane.destination.config,
  first: items[0]?.position ?? plan.after,
  last: items.at(-1)?.position ?? plan.last,
  now: lane.deps.clock.now(),
  service: lane.deps.service,
  isRepeat: plan.isRepeat,
  isTest: false,
  encodings: lane.deps.encodings,
})

const withoutContent = (record: ExportRecord): ExportRecord => ({
  ...record,
  content: null,
  contentMissing: record.contentMissing ?? 'full',
})

const halvesOf = (plan: Plan, middle: number): Plan[] => [
  { ...plan, last: middle, state: 'waiting', isRepeat: true },
  { ...plan, after: middle, state: 'waiting', isRepeat: true },
]

function judge(lane: LaneState, track: Track, plan: Plan, sent: Sent, outcome: Outcome): void {
  const { tally } = lane
  const { items } = sent
  plan.isRepeat = true
  switch (outcome.kind) {
    case 'accepted': {
      const { rejected, message } = outcome
      lane.failures = 0
      lane.isFirst = false
      tally.success()
      tally.sent(items.length - rejected)
      if (rejected > 0)
        tally.rejected(rejected, message ?? `The destination refused ${rejected} of ${items.length} events`)
      complete(lane, track, plan, sent)
      return
    }
    case 'retry':
      plan.state = 'waiting'
      failed(lane, outcome.message, outcome.afterMs)
      return
    case 'unauthorized':
      plan.state = 'waiting'
      pauseLane(lane, outcome.message)
      return
    default:
      lane.isFirst = false
      narrow(lane, track, plan, sent, outcome)
  }
}

/** The batch or one of its records is at fault: splits until that one is alone, which is tried without content. */
function narrow(
  lane: LaneState,
  track: Track,
  plan: Plan,
  sent: Sent,
  { kind, message, status }: Extract<Outcome, { kind: 'refused' | 'too-large' }>,
): void {
  const { tally } = lane
  const [first, second] = sent.items
  if (first !== undefined && second !== undefined) {
    const { items } = sent
    track.stretch.replace(plan, halvesOf(plan, items[Math.ceil(items.length / 2) - 1]?.position ?? plan.last))
    return
  }
  if (kind === 'too-large' && !plan.isBare && first?.hasContent) {
    track.stretch.replace(plan, [{ ...plan, state: 'waiting', isBare: true }])
    return
  }
  if (kind === 'refused' && first !== undefined) tally.setAside(first.id, status, message)
  else {
    tally.dropped({ too_large: 1 })
    tally.failure(message)
  }
  complete(lane, track, plan, sent)
}

export function complete(
  lane: LaneState,
  track: Track,
  plan: Plan,
  { dropped, passed }: Pick<Gathered, 'dropped' | 'passed'>,
): void {
  track.passed += passed
  lane.tally.dropped(dropped)
  track.stretch.done(plan)
}

/** Waits before the next try: as long as the destination asks for, else longer each time. */
export function failed(lane: LaneState, message: string, afterMs: number | null): void {
  if (lane.isStopped) return
  lane.tally.failure(message)
  if (lane.unblock !== null) return
  lane.failures += 1
  block(
    lane,
    afterMs === null ? backoffMs(lane.failures, lane.deps.random) : Math.max(LEAST_WAIT_MS, afterMs),
  )
}

function block(lane: LaneState, ms: number): void {
  lane.unblock ??= lane.deps.clock.after(ms, () => {
    lane.unblock = null
    lane.more()
  })
}

export const unreadable = (error: unknown): string =>
  `The queue could not be read (${error instanceof Error ? error.name : 'unknown error'})`

const FIRST_MS = 1_000
const LONGEST_MS = 5 * 60_000

/**
 * The wait before the n-th repetition (n from 1): random, from one second to twice the longest wait before, at most five
 * minutes. Full jitter, so that gateways that failed together do not return together.
 */
const backoffMs = (failures: number, random: () => number): number =>
  Math.max(FIRST_MS, Math.round(random() * Math.min(LONGEST_MS, FIRST_MS * 2 ** failures)))
