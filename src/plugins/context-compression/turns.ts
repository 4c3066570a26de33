import type { Message } from '../../core/request.ts'

/** Messages that stay or go together: one message, or a message with calls and all of their results. */
export interface Unit {
  readonly indexes: number[]
  readonly isQuestion: boolean
  /** The user's message that its end follows, counted from 0; what comes before the first one is part of turn 0. */
  turn: number
}

const MESSAGES_PER_LOOK = 1_024

/**
 * In the order of their ends. Instructions belong to no unit: they stay. Results may stand anywhere behind their calls.
 * `pace` lets the event loop go on.
 */
export async function unitsOf(
  messages: readonly Message[],
  pace: () => Promise<void> | undefined,
): Promise<Unit[]> {
  const units: Unit[] = []
  const byCall = new Map<string, Unit>()
  let turn = -1
  let isOrdered = true
  for (const [index, { role, toolCalls, toolCallId }] of messages.entries()) {
    if (index % MESSAGES_PER_LOOK === 0) await pace()
    if (role === 'system' || role === 'developer') continue
    if (role === 'user') turn += 1
    const called = toolCallId === undefined ? undefined : byCall.get(toolCallId)
    if (called !== undefined) {
      isOrdered &&= called === units.at(-1)
      called.indexes.push(index)
      called.turn = Math.max(0, turn)
      continue
    }
    const unit: Unit = { indexes: [index], isQuestion: role === 'user', turn: Math.max(0, turn) }
    units.push(unit)
    for (const { id } of toolCalls ?? []) byCall.set(id, unit)
  }
  return isOrdered ? units : units.sort((a, b) => endOf(a) - endOf(b))
}

const endOf = ({ indexes }: Unit): number => indexes.at(-1) ?? 0

/** The items, those of the middle first and then outward; of two that are as far from it, the earlier one first. */
export function middleOut<T>(items: readonly T[]): T[] {
  let before = Math.floor((items.length - 1) / 2)
  let after = before + 1
  const ordered = items.slice(before, items.length % 2 === 1 ? after : before)
  before -= ordered.length
  for (; after < items.length; before--, after++)
    ordered.push(...items.slice(before, before + 1), ...items.slice(after, after + 1))
  return ordered
}
