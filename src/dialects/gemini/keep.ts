import type { JsonObject } from '../../core/events.ts'

/** Collects, once each, the names of what only this dialect can carry. */
export interface Keep {
  (name: string): void
  /** Names the fields of an object that are not in `carried`, as fields of `place`. */
  rest(object: JsonObject, carried: ReadonlySet<string>, place: string): void
  readonly names: readonly string[]
}

export function createKeep(): Keep {
  const names: string[] = []
  const known = new Set<string>()
  const keep = (name: string): void => {
    if (known.has(name)) return
    known.add(name)
    names.push(name)
  }
  return Object.assign(keep, {
    names,
    rest(object: JsonObject, carried: ReadonlySet<string>, place: string): void {
      for (const [name, value] of Object.entries(object)) {
        if (value !== null && value !== undefined && !carried.has(name)) keep(`${place}${name}`)
      }
    },
  })
}
