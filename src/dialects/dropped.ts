/** Fewer names are searched where they stand: most requests drop none or two. */
const FEW = 16
const LONGEST_NAME = 100

const known = new WeakMap<string[], Set<string>>()

/**
 * Adds a name to the parameters that cannot be carried, once and cut to 100 characters. Names may hold words of the
 * caller (`content.<type>`), so there can be as many as the request has parts: adding one never searches them all.
 */
export function dropInto(dropped: string[], told: string): void {
  const name = told.slice(0, LONGEST_NAME)
  if (dropped.length < FEW) {
    if (!dropped.includes(name)) dropped.push(name)
    return
  }
  const names = known.get(dropped) ?? new Set(dropped)
  known.set(dropped, names)
  if (names.has(name)) return
  names.add(name)
  dropped.push(name)
}
