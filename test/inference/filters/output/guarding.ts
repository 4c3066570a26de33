import { type Cancellation, newCancellation } from '../../../../src/core/cancellation.ts'
import type { DialectName, FrameBatch, InferenceFrames, JsonObject } from '../../../../src/core/events.ts'
import type { GuardrailRecord } from '../../../../src/core/guardrail.ts'
import { type BuiltinEntry, compileFilters, type PatternEntry } from '../../../../src/filters/compile.ts'
import { guarded, metered } from '../../../../src/inference/filters/output/apply.ts'
import { createMeter, type Meter } from '../../../../src/inference/reply/meter.ts'
import type { Dispatched } from '../../../../src/inference/upstream/first-content.ts'
import { attemptFor } from '../../../dialects/attempt.ts'
import { REQUEST } from '../../../dialects/request.ts'
import { guardrail } from '../../fixture.ts'

/** Answers as the filters of a guardrail let them pass, without a gateway. */

export const guardrailOf = (builtins: BuiltinEntry[], patterns: PatternEntry[]): GuardrailRecord =>
  guardrail({ id: 'g', filters: compileFilters(builtins, patterns) })

export interface Guarded {
  frames: InferenceFrames
  meter: Meter
  cancellation: Cancellation
  dropped: string[]
  pipeline(): readonly JsonObject[]
}

export function guard(
  frames: InferenceFrames,
  guardrails: readonly GuardrailRecord[],
  { dialect = 'chat', stream = true }: { dialect?: DialectName; stream?: boolean } = {},
): Guarded {
  const cancellation = newCancellation()
  const request = { ...REQUEST, dialect, stream }
  const meter = metered(
    createMeter(() => 0, 0),
    { guardrails },
    request,
  )
  const started: Dispatched = { attempt: attemptFor('chat'), frames, dropped: [] }
  const passed = guarded({ meter, cancellation }, started)
  return {
    frames: passed.frames,
    meter,
    cancellation,
    dropped: passed.dropped,
    pipeline: () => meter.pipeline ?? [],
  }
}

export async function* framesOf(...batches: FrameBatch[]): AsyncGenerator<FrameBatch> {
  yield* batches
}
