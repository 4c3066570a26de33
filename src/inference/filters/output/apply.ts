import { type Cancellation, cancel } from '../../../core/cancellation.ts'
import { OverBudget } from '../../../core/content-filter.ts'
import {
  eachOf,
  type Finish,
  type FrameBatch,
  type InferenceEvent,
  type InferenceFrame,
  type InferenceFrames,
  isContent,
} from '../../../core/events.ts'
import type { InferenceRequest } from '../../../core/request.ts'
import type { KeyRecord } from '../../../core/snapshot.ts'
import { dropsInto } from '../../../dialects/dropped.ts'
import type { Generation } from '../../generation.ts'
import type { Meter } from '../../reply/meter.ts'
import type { Dispatched } from '../../upstream/first-content.ts'
import { withFindings } from '../findings.ts'
import { createScanners, type Scanners } from '../scanners.ts'
import { type ChoiceOutput, createChoiceOutput } from './choice.ts'
import type { NativeOutput } from './native-output.ts'
import { createNativeOutput } from './natives.ts'

/** A meter that counts the provider's frames before filtering. */
export interface GuardingMeter extends Meter {
  guard<Started extends Answering>(started: Started, cancellation: Cancellation): Started
}

type Answering = Pick<Dispatched, 'frames' | 'dropped'>

/** Adds output filters to a meter. Returns the same meter if the key has none. */
export function metered(
  meter: Meter,
  { guardrails }: Pick<KeyRecord, 'guardrails'>,
  request: InferenceRequest,
): Meter {
  const scanners = createScanners(guardrails)
  return scanners === null ? meter : guarding(meter, scanners, request)
}

/** Applies the key's output filters to a reply. All later stages see only the filtered frames. */
export const guarded = <Started extends Answering>(
  { meter, cancellation }: Pick<Generation<Meter>, 'meter' | 'cancellation'>,
  started: Started,
): Started => (isGuarding(meter) ? meter.guard(started, cancellation) : started)

/** True if the key has output filters. */
const isGuarding = (meter: Meter): meter is GuardingMeter => 'guard' in meter

function guarding(meter: Meter, scanners: Scanners, request: InferenceRequest): GuardingMeter {
  const blocked: Finish[] = []
  /** The reply was not streamed, and contains its usage. */
  let isUnstreamed = false
  let isGuarded = false
  function see(frame: InferenceFrame): void {
    meter.see(frame)
    isUnstreamed ||= !request.stream && frame.events.some(isContent) && frame.events.some(isUsage)
  }
  return {
    // Frames were already metered before filtering. Cached replies were filtered when stored, so meter them here.
    see(frame) {
      if (!isGuarded) meter.see(frame)
    },
    guard(started, cancellation) {
      isGuarded = true
      const dropped = [...started.dropped]
      const filter = createFrameFilter(scanners, request, blocked, dropped)
      return { ...started, dropped, frames: filtered(started.frames, filter, see, cancellation) }
    },
    settlement(ending, context) {
      const isCut = blocked.length > 0 && ending === 'complete'
      const isDisconnected = isCut && !isUnstreamed && meter.finishes.length === 0
      const own = meter.settlement(isDisconnected ? 'truncated' : ending, context)
      if (!isCut) return withFindings(own, scanners)
      return withFindings(
        { ...own, settlement: { ...own.settlement, finishReason: 'content_filter' } },
        scanners,
      )
    },
    get pipeline() {
      return scanners.report.stages()
    },
    get finishes() {
      return blocked.length > 0 ? blocked : meter.finishes
    },
    get serviceTier() {
      return meter.serviceTier
    },
  }
}

const isUsage = ({ type }: InferenceEvent): boolean => type === 'usage'

async function* filtered(
  frames: InferenceFrames,
  filter: FrameFilter,
  see: (frame: InferenceFrame) => void,
  cancellation: Cancellation,
): AsyncGenerator<FrameBatch> {
  const iterator = frames[Symbol.asyncIterator]()
  let isOver = false
  try {
    for (;;) {
      const result = await iterator.next().catch((error: unknown) => {
        isOver = true
        return { error }
      })
      if ('error' in result) {
        const rest = filter.rest()
        if (rest.length > 0) yield rest
        throw result.error
      }
      if (result.done) {
        isOver = true
        return
      }
      for (const frame of result.value) see(frame)
      const batch = filter.take(result.value)
      if (filter.isBlocked) cancel(cancellation, new Error('a content filter ended the reply'))
      if (batch.length > 0) yield batch
      if (filter.isBlocked) return
    }
  } finally {
    if (!isOver) iterator.return?.().catch(() => undefined)
  }
}

interface FrameFilter {
  readonly isBlocked: boolean
  take(batch: FrameBatch): FrameBatch
  /** The held text, for a truncated reply. */
  rest(): FrameBatch
}

/** Filters events, choice by choice. */
function createEventFilter(scanners: Scanners, request: InferenceRequest, dropped: string[]) {
  const { dialect, stream, isLoop = false } = request
  const choices = new Map<number, ChoiceOutput>()
  const drop = dropsInto(dropped)
  const flush = (out: InferenceEvent[]): void => {
    for (const choice of choices.values()) beside(out, (own) => choice.flush(own))
  }
  const natives: NativeOutput = createNativeOutput({
    dialect,
    isStream: stream,
    scanners,
    flush,
    drop,
    isLoop,
  })

  function beside(out: InferenceEvent[], emit: (own: InferenceEvent[]) => void): void {
    const own: InferenceEvent[] = []
    emit(own)
    for (const event of own) {
      out.push(event)
      if (scanners.rewrites) natives.beside(event, out)
    }
  }

  function choiceOf(index: number): ChoiceOutput {
    const known = choices.get(index)
    if (known) return known
    const made = createChoiceOutput(index, scanners, drop)
    choices.set(index, made)
    return made
  }

  return {
    flush,
    end: natives.end,
    /** The choices in order; the first one if none has started. */
    indexes: (): number[] => (choices.size === 0 ? [0] : [...choices.keys()].sort((a, b) => a - b)),
    take(event: InferenceEvent, next: InferenceEvent | undefined, out: InferenceEvent[]): void {
      if ('choice' in event) {
        const choice = choiceOf(event.choice)
        beside(out, (own) => choice.take(event, next, own))
      } else if (event.type === 'native' && scanners.rewrites) natives.take(event, out)
      else if (event.type === 'response-end') {
        flush(out)
        if (scanners.isBlocked) return
        if (scanners.rewrites) natives.end(out)
        out.push(event)
      } else out.push(event)
    },
    /** Releases text that was held before this frame, in a separate frame. */
    before({ events }: InferenceFrame): InferenceFrame[] {
      const out: InferenceEvent[] = []
      const at = events.findIndex((event) => 'choice' in event)
      const first = events[at]
      if (first && 'choice' in first) {
        beside(out, (own) => choices.get(first.choice)?.before(first, events[at + 1], own))
      }
      return out.length === 0 ? [] : [{ events: out }]
    },
  }
}

/** Adds the finishes of all choices to `blocked` if a filter ends the reply. */
function createFrameFilter(
  scanners: Scanners,
  request: InferenceRequest,
  blocked: Finish[],
  dropped: string[],
): FrameFilter {
  const events = createEventFilter(scanners, request, dropped)

  /** Runs `filter`; false if it went over its budget. */
  function isWithinBudget(filter: () => void): boolean {
    try {
      filter()
      return true
    } catch (error) {
      if (error instanceof OverBudget) return false
      throw error
    }
  }

  /** Ends the reply. Text of other choices before the match is still released. */
  function block(out: InferenceEvent[]): void {
    isWithinBudget(() => events.flush(out))
    events.end(out)
    for (const choice of events.indexes()) blocked.push({ choice, reason: 'content_filter', native: null })
    out.push({ type: 'response-end', finishes: blocked })
  }

  function takeFrame(frame: InferenceFrame): InferenceFrame[] {
    const frames: InferenceFrame[] = []
    const out: InferenceEvent[] = []
    const isDone = isWithinBudget(() => {
      frames.push(...events.before(frame))
      for (const [at, event] of frame.events.entries()) {
        if (scanners.isBlocked) return
        events.take(event, frame.events[at + 1], out)
      }
    })
    if (!isDone) scanners.stopOverBudget()
    if (!isDone || scanners.isBlocked) block(out)
    const isSame = out.length === frame.events.length && out.every((event, at) => event === frame.events[at])
    if (out.length > 0) frames.push(isSame ? frame : { events: out })
    return frames
  }

  return {
    get isBlocked() {
      return blocked.length > 0
    },
    take(batch) {
      const frames: InferenceFrame[] = []
      for (const frame of batch.flatMap((each) => [...eachOf(each)])) {
        frames.push(...takeFrame(frame))
        if (blocked.length > 0) break
      }
      return frames
    },
    rest() {
      const out: InferenceEvent[] = []
      if (!isWithinBudget(() => events.flush(out))) scanners.stopOverBudget()
      return out.length === 0 ? [] : [{ events: out }]
    },
  }
}
