import type { Program } from './program.ts'

/** Longer programs are not analysed: their matches count as unbounded. */
const MOST_STEPS = 5_000
/** Of a character, in UTF-16. */
const UNITS = 2

/** The most UTF-16 units that a match of this program can have; infinite where it repeats without end. */
export function longestMatch({ starts, steps }: Program): number {
  if (steps.length > MOST_STEPS) return Number.POSITIVE_INFINITY
  const longest = new Map<number, number>()
  const open = new Set<number>()
  const stack = [...starts]
  for (let at = stack.at(-1); at !== undefined; at = stack.at(-1)) {
    if (longest.has(at)) {
      stack.pop()
      continue
    }
    const next = nextOf(steps[at])
    if (open.has(at)) {
      const own = steps[at]?.type === 'character' ? UNITS : 0
      longest.set(at, own + Math.max(0, ...next.map((to) => longest.get(to) ?? 0)))
      open.delete(at)
      stack.pop()
      continue
    }
    open.add(at)
    for (const to of next) {
      if (open.has(to)) return Number.POSITIVE_INFINITY
      if (!longest.has(to)) stack.push(to)
    }
  }
  return Math.max(0, ...starts.map((start) => longest.get(start) ?? 0))
}

function nextOf(step: Program['steps'][number] | undefined): readonly number[] {
  switch (step?.type) {
    case 'fork':
      return [step.first, step.second]
    case 'jump':
    case 'place':
    case 'character':
      return [step.to]
    default:
      return []
  }
}
