import { DESTINATION_TYPES, type DestinationType } from '../destination-types.ts'
import type { BatchLimits, DestinationKind } from '../kind.ts'
import { TRACES_LIMITS, type TracesTarget, tracesCall } from './call.ts'
import { meaningOfOtlp } from './meaning.ts'

/** A kind of destination that receives each batch as one call of OTLP's traces; `targetOf` gets the fields of its config. */
export const tracesKind = (
  type: DestinationType,
  targetOf: (fields: Readonly<Record<string, string>>) => TracesTarget,
  limits: BatchLimits = TRACES_LIMITS,
): DestinationKind => ({
  type,
  fields: DESTINATION_TYPES[type],
  limits,
  batchOf: (records, context) => [tracesCall(records, context, targetOf(context.config.fields))],
  meaningOf: meaningOfOtlp,
})
