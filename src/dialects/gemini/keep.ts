import type { JsonObject } from '../../core/events.ts'

/** Collects, once each, the names of what only this dialect can carry. */
export interface Keep {
  (name: string): void
  /** Names the fields of an object that are not in `known`, as fields of `place`. */
  rest(object: JsonObject, known: ReadonlySet<string>, place: string): void
  readonly names: readonly string[]
}

export function createKeep(): Keep {
  const names = new Set<string>()
  const keep = (name: string): void => {
    names.add(name)
  }
  return Object.assign(keep, {
    get names() {
      return [...names]
    },
    rest(object: JsonObject, known: ReadonlySet<string>, place: string): void {
      for (const [name, value] of Object.entries(object)) {
        if (value !== null && value !== undefined && !known.has(name)) keep(`${place}${name}`)
      }
    },
  })
}
