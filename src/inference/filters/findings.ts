import { GatewayError } from '../../core/errors.ts'
import type { Metering, Settled } from '../reply/meter.ts'
import type { Scanners } from './scanners.ts'

/** A settlement with what filters did to the answer: it was found after the journal was written. */
export function withFindings({ settlement, cost }: Settled, scanners: Scanners): Settled {
  const stages = scanners.report.stages()
  if (stages.length === 0) return { settlement, cost }
  return {
    cost,
    settlement: {
      ...settlement,
      ...(scanners.isBlocked && settlement.finishReason !== 'error'
        ? { finishReason: 'content_filter' }
        : {}),
      guardrails: [...(settlement.guardrails ?? []), ...stages],
    },
  }
}

/** The same meter, and what filters did to the answer. */
export const reporting = <Kind extends Metering>(meter: Kind, scanners: Scanners): Kind => ({
  ...meter,
  get pipeline() {
    return scanners.report.stages()
  },
  settlement: (ending, context) => withFindings(meter.settlement(ending, context), scanners),
})

/** For an answer that has no place for a reason why it ends. */
export function answerBlocked({ report }: Scanners): GatewayError {
  const patterns = [...new Set(report.blocking.map(({ name }) => name))]
  const why = patterns.length === 0 ? 'it would take too long to look through it' : patterns.join(', ')
  return new GatewayError(403, `The answer was blocked by the content filters of a guardrail: ${why}`, {
    metadata: { error_type: 'permission_denied', patterns },
  })
}
