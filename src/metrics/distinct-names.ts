/** The label of a thing: its name; with the first digits of its id if another one of its kind has the name too. */
export function createDistinctNames(): {
  add(kind: string, name: string, id: string): void
  nameOf(kind: string, name: string, id: string): string
} {
  const firstIds = new Map<string, string | null>()
  const placeOf = (kind: string, name: string): string => `${kind} ${name}`
  return {
    add(kind, name, id) {
      const place = placeOf(kind, name)
      const first = firstIds.get(place)
      if (first === undefined) firstIds.set(place, id)
      else if (first !== id) firstIds.set(place, null)
    },
    nameOf: (kind, name, id) =>
      firstIds.get(placeOf(kind, name)) === null ? `${name} (${id.slice(0, 8)})` : name,
  }
}
