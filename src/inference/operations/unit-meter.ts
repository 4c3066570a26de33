import type { Finish } from '../../core/events.ts'
import type { Pricing } from '../../core/snapshot.ts'
import { inputOf, NO_USAGE, type Usage } from '../../core/usage.ts'
import { type Counted, type Ending, type Metering, settledAs } from '../reply/meter.ts'

/** The meter of operations with one reply. */
export interface UnitMeter extends Metering {
  /** The reply has arrived; `count` computes its usage at the prices of its endpoint. */
  take(upstreamId: string | null, count: (pricing: Pricing) => Counted): void
}

const STOP: Finish = { choice: 0, reason: 'stop', native: null }

/** `bound`: the maximum usage. A disconnect before the reply is charged for the input. */
export function createUnitMeter(
  now: () => number,
  startedAt: number,
  bound: (pricing: Pricing) => Usage,
): UnitMeter {
  let upstreamId: string | null = null
  let count: ((pricing: Pricing) => Counted) | null = null
  let firstContentAt: number | null = null

  function countAt(ending: Ending, pricing: Pricing): Counted {
    if (ending === 'failed') return { usage: NO_USAGE, source: 'none' }
    return count?.(pricing) ?? { usage: inputOf(bound(pricing)), source: 'estimated' }
  }

  return {
    finishes: [STOP],
    take(id, counted) {
      upstreamId = id
      count = counted
      firstContentAt ??= now()
    },
    settlement: (ending, context) =>
      settledAs(ending, context, {
        counted: countAt(ending, context.pricing),
        upstreamId,
        finish: STOP,
        startedAt,
        firstContentAt,
        serviceTier: null,
      }),
  }
}
