import type { BatchContext } from './kind.ts'
import type { ExportRecord } from './record.ts'

/** The namespace of names that Sluice makes up itself; drawn once. */
const NAMESPACE = '5b0c7e0e-6c3a-4a53-9d7e-2f6f0f0c51b7'

/** The UUID (version 5) of a name: the same name always has the same one, so that a receiver recognizes a repeat. */
export const uuidOf = (name: string): string => Bun.randomUUIDv5(name, NAMESPACE)

/** The UUID of a batch: the same one for a repeat of it, another for other events or for a replay. */
export const batchUuidOf = (
  records: readonly ExportRecord[],
  { destinationId, first, last, isTest, now }: BatchContext,
): string =>
  uuidOf([destinationId, first, last, isTest ? now : '', ...records.map(({ id }) => id)].join('\n'))
