import type { Place } from './series.ts'

/** Places by the number of a value that the program chooses. */
export type Places = (Place | undefined)[]

export function placeAt(known: Places, index: number, find: () => Place): Place {
  const found = known[index]
  if (found !== undefined) return found
  const place = find()
  known[index] = place
  return place
}

/** Values by three texts, each made once. The texts are names of the snapshot, whose hashes are computed already. */
export interface ByTexts<Value> {
  of(first: string, second: string, third: string): Value
  clear(): void
}

export function createByTexts<Value>(
  make: (first: string, second: string, third: string) => Value,
): ByTexts<Value> {
  const byFirst = new Map<string, Map<string, Map<string, Value>>>()
  return {
    of(first, second, third) {
      const found = byFirst.get(first)?.get(second)?.get(third)
      if (found !== undefined) return found
      const value = make(first, second, third)
      const bySecond = byFirst.get(first) ?? new Map<string, Map<string, Value>>()
      const byThird = bySecond.get(second) ?? new Map<string, Value>()
      byFirst.set(first, bySecond)
      bySecond.set(second, byThird)
      byThird.set(third, value)
      return value
    },
    clear: () => byFirst.clear(),
  }
}
