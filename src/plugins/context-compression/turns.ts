import type { Message } from '../../core/request.ts'

/** Messages that stay or go together: one message, or a message with calls and all of their results. */
export interface Unit {
  readonly indexes: number[]
  readonly isQuestion: boolean
  /** The user's message that its end follows, counted from 0; what comes before the first one is part of turn 0. */
  turn: number
}

/** In the order of their ends. Instructions belong to no unit: they stay. Results may stand anywhere behind their calls. */
export function unitsOf(messages: readonly Message[]): Unit[] {
  const units: Unit[] = []
  const byCall = new Map<string, Unit>()
  let turn = -1
  for (const [index, { role, toolCalls, toolCallId }] of messages.entries()) {
    if (role === 'system' || role === 'developer') continue
    if (role === 'user') turn += 1
    const called = toolCallId === undefined ? undefined : byCall.get(toolCallId)
    if (called !== undefined) {
      called.indexes.push(index)
      called.turn = Math.max(0, turn)
      continue
    }
    const unit: Unit = { indexes: [index], isQuestion: role === 'user', turn: Math.max(0, turn) }
    units.push(unit)
    for (const { id } of toolCalls ?? []) byCall.set(id, unit)
  }
  return units.sort((a, b) => endOf(a) - endOf(b))
}

const endOf = ({ indexes }: Unit): number => indexes.at(-1) ?? 0

/** The items, those of the middle first and then outward. */
export function middleOut<T>(items: readonly T[]): T[] {
  const centre = (items.length - 1) / 2
  return items
    .map((item, i) => ({ item, distance: Math.abs(i - centre) }))
    .sort((a, b) => a.distance - b.distance)
    .map(({ item }) => item)
}
