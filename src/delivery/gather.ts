import { turnOfLoop } from '../core/turn.ts'
import type { DestinationKind } from '../exporters/kind.ts'
import type { ExportRecord } from '../exporters/record.ts'
import type { Destination } from './destination.ts'
import type { Outcome } from './export-stores.ts'
import type { OutboxEntry } from './outbox-reader.ts'
import type { DropReason } from './report.ts'
import type { Stretch } from './stretch.ts'

export interface GatherDeps {
  /** Milliseconds since 1970. */
  now(): number
  recordsOf(entries: readonly OutboxEntry[], destination: Destination): Promise<Outcome[]>
  readonly maxAgeMs: number
}

/** A batch while it is read. */
export interface Gathered {
  readonly items: { readonly position: number; readonly record: ExportRecord }[]
  /** Everything up to here was looked at. */
  last: number
  /** Of generations that were passed: what is counted once the batch is done. */
  readonly dropped: Partial<Record<DropReason, number>>
  /** Generations of the destination's workspace. */
  passed: number
  weight: number
}

export const nothingGathered = (last: number): Gathered => ({
  items: [],
  last,
  dropped: {},
  passed: 0,
  weight: 0,
})

/** With content a generation may have megabytes. */
const ENTRIES_WITH_CONTENT = 16
const ENTRIES = 256

/**
 * Reads on behind `gathered.last`. `full`: the batch has all that a call of this kind takes; `later`: the next generation is
 * not complete yet; `end`: nothing more is there.
 */
export async function gather(
  { now, recordsOf, maxAgeMs }: GatherDeps,
  gathered: Gathered,
  {
    stretch,
    destination,
    kind,
    upTo = Number.POSITIVE_INFINITY,
  }: {
    stretch: Stretch
    destination: Destination
    kind: DestinationKind
    upTo?: number
  },
): Promise<'full' | 'later' | 'end'> {
  const { limits } = kind
  const mostAtOnce = destination.privacyMode ? ENTRIES : ENTRIES_WITH_CONTENT
  const drop = (reason: DropReason): void => {
    gathered.dropped[reason] = (gathered.dropped[reason] ?? 0) + 1
  }
  while (gathered.last < upTo) {
    const most = Math.min(mostAtOnce, limits.records - gathered.items.length)
    const entries = stretch.read(gathered.last, most).filter(({ position }) => position <= upTo)
    if (entries.length === 0) return 'end'
    const outcomes = await recordsOf(entries, destination)
    for (const [index, { position, workspaceId, committedAt }] of entries.entries()) {
      const outcome = outcomes[index] ?? null
      if (outcome === 'later') return 'later'
      if (destination.workspaceId === null || destination.workspaceId === workspaceId) gathered.passed += 1
      gathered.last = position
      if (outcome === null) continue
      if (outcome === 'gone') drop('pruned')
      else if (!stretch.isReplay && committedAt < now() - maxAgeMs) drop('age')
      else if (outcome.endedAt < now() - (limits.oldestMs ?? Number.POSITIVE_INFINITY)) drop('too_old')
      else {
        gathered.items.push({ position, record: outcome })
        gathered.weight += weightOf(outcome)
      }
      if (gathered.items.length >= limits.records || gathered.weight >= limits.bytes) return 'full'
    }
    // Other destinations get a turn.
    await turnOfLoop()
  }
  return 'end'
}

const RECORD_BYTES = 1_000

/** About how many bytes a record has in a call. */
const weightOf = ({ content }: ExportRecord): number =>
  RECORD_BYTES + (content === null ? 0 : textOf(content))

function textOf(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 4
  let sum = 2
  for (const member of Object.values(value)) sum += 8 + textOf(member)
  return sum
}
