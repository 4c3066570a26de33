import { GatewayError } from '../../core/errors.ts'
import type { Metering, Settled } from '../reply/meter.ts'
import type { Scanners } from './scanners.ts'

/** Adds the filters' findings in the reply, which the journal row does not contain. */
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

/** A meter that also reports the filters' findings. */
export const reporting = <Kind extends Metering>(meter: Kind, scanners: Scanners): Kind => ({
  ...meter,
  get pipeline() {
    return scanners.report.stages()
  },
  settlement: (ending, context) => withFindings(meter.settlement(ending, context), scanners),
})

/** The error that replaces a blocked reply whose format has no finish reason. */
export function answerBlocked({ report }: Scanners): GatewayError {
  const patterns = [...new Set(report.blocking.map(({ name }) => name))]
  const why = patterns.length === 0 ? 'searching it would take too long' : patterns.join(', ')
  return new GatewayError(403, `The answer was blocked by the content filters of a guardrail: ${why}`, {
    metadata: { error_type: 'permission_denied', patterns },
    refusal: report.refusal(),
  })
}
