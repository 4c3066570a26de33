/** Characters of a name that are compared. Names from requests may be long; the rest of one is ignored. */
const MOST = 96
const LEAST_LIKENESS = 0.35

/**
 * The candidates that look most like `name`, best first: by pairs of letters, with or without the author. `isFar`: those
 * too that have little in common with it; never those that have nothing.
 */
export function nearestNames(
  name: string,
  candidates: Iterable<string>,
  count: number,
  isFar = false,
): string[] {
  const wanted = folded(name)
  const wantedSlug = slugOf(wanted)
  const scored: { candidate: string; likeness: number }[] = []
  for (const candidate of candidates) {
    const other = folded(candidate)
    const likeness = Math.max(alike(wanted, other), 0.95 * alike(wantedSlug, slugOf(other)))
    if (isFar ? likeness > 0 : likeness >= LEAST_LIKENESS) scored.push({ candidate, likeness })
  }
  scored.sort((left, right) => right.likeness - left.likeness || (left.candidate < right.candidate ? -1 : 1))
  return scored.slice(0, count).map(({ candidate }) => candidate)
}

const folded = (name: string): string =>
  name
    .slice(0, MOST)
    .toLowerCase()
    .replace(/[._:\s-]+/g, '-')
const slugOf = (name: string): string => name.slice(name.indexOf('/') + 1)

/** Sørensen–Dice over pairs of letters: 1 for equal texts, 0 for nothing in common. */
function alike(left: string, right: string): number {
  if (left === right) return 1
  if (left.length < 2 || right.length < 2) return 0
  const pairs = new Map<number, number>()
  for (let at = 1; at < left.length; at += 1) {
    const pair = left.charCodeAt(at - 1) * 65_536 + left.charCodeAt(at)
    pairs.set(pair, (pairs.get(pair) ?? 0) + 1)
  }
  let shared = 0
  for (let at = 1; at < right.length; at += 1) {
    const pair = right.charCodeAt(at - 1) * 65_536 + right.charCodeAt(at)
    const left = pairs.get(pair) ?? 0
    if (left === 0) continue
    pairs.set(pair, left - 1)
    shared += 1
  }
  return (2 * shared) / (left.length + right.length - 2)
}
