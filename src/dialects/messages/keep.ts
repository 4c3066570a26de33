import type { JsonObject } from '../../core/events.ts'
import { dropInto } from '../dropped.ts'

/** Collects, once each, the names of what only this dialect can carry. */
export interface Keep {
  (name: string): void
  /** Names the fields of `rest`, which stand at `place`, and answers it. Marks of prompt caching have other words elsewhere. */
  rest(rest: JsonObject | undefined, place: string): JsonObject | undefined
  readonly names: readonly string[]
}

export function createKeep(): Keep {
  const names: string[] = []
  const keep = (name: string): void => {
    dropInto(names, name)
  }
  return Object.assign(keep, {
    names,
    rest(rest: JsonObject | undefined, place: string): JsonObject | undefined {
      for (const key of Object.keys(rest ?? {})) if (key !== 'cache_control') keep(`${place}.${key}`)
      return rest
    },
  })
}
