import { signalOf } from '../../core/cancellation.ts'
import type { RoutedRequest } from '../../core/request.ts'
import type { Closing } from '../../core/result.ts'
import { leaseBody } from '../../http/body-budget.ts'
import type { Generation, Opening, StepTotals } from '../generation.ts'

/** What the steps of one generation share. */
export interface Family extends Pick<Opening, 'incoming' | 'snapshot' | 'caller' | 'origin' | 'signal'> {
  /** The generation that the caller sees. */
  readonly id: string
  readonly request: RoutedRequest
  readonly steps: StepTotals
}

export const newStepTotals = (): StepTotals => ({
  costNanoUsd: 0,
  tools: { costNanoUsd: 0, requested: 0, executed: 0, searches: 0 },
})

/** A loop within a step of another generation, such as a member of a panel, belongs to that generation. */
export const familyOf = ({ id, opening, cancellation }: Generation, steps: StepTotals): Family => ({
  ...opening,
  id: opening.parent?.id ?? id,
  request: opening.parent?.request ?? opening.request,
  signal: signalOf(cancellation),
  steps,
})

/** The kind of a step that a tool makes. */
const TOOL_STEP = 'tool'

/** The opening of a step, without its request. It has a line of its own in the access log, and no body of the caller. */
export function stepOpening(family: Family, kind: string, startedAt: number) {
  const { id, incoming, request, snapshot, caller, origin, signal, steps } = family
  const { budget } = incoming.body
  return {
    snapshot,
    caller,
    origin,
    signal,
    steps,
    incoming: {
      ...incoming,
      arrivedAt: performance.now(),
      body: leaseBody(budget),
      settled: '',
      isDeferred: false,
      isClosed: true,
    },
    parent: { id, kind, request },
    wantsMetadata: false,
    startedAt,
  } satisfies Omit<Opening, 'request'>
}

/** Adds a settled step to the totals of its parent. */
export function addStep({ parent, steps }: Opening, costNanoUsd: number): void {
  if (parent === undefined || steps === undefined) return
  steps.costNanoUsd += costNanoUsd
  if (parent.kind === TOOL_STEP) steps.tools.costNanoUsd += costNanoUsd
}

/** The closing of the caller's generation, with the costs of its steps. */
export function withSteps(closing: Closing, { opening: { parent, steps } }: Generation): Closing {
  if (steps === undefined || parent !== undefined) return closing
  const { costNanoUsd, tools } = steps
  return {
    ...closing,
    costNanoUsd: closing.costNanoUsd + costNanoUsd,
    ...(Object.values(tools).some((value) => value > 0) && { serverTools: { ...tools } }),
  }
}
