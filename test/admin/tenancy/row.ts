/** A row of the matrix: an operation, and the place where it names a thing. */
import type { Ask, Place, Thing, World } from './types.ts'

/** The workspace of the named thing, or that it does not exist. */
export type State = 'own' | 'foreign' | 'deleted' | 'random'

export interface Row {
  /** As in the API document: `get /keys/{hash}`. */
  operation: string
  /** `path hash`, `query workspace_id`, `body user_ids`. */
  at: string
  thing: Thing
  /** Which keys may call it. */
  keys: 'any' | 'management' | 'inference'
  /** The things that a management key finds; all others are missing. Inference keys find those of their workspace. */
  management?: readonly State[]
  /** The status of a thing that is found; default: a success. */
  found?: number
  /** The status of a missing thing; default 404. */
  missing?: number
  /** The status of a thing of another workspace, for a management key, where it is neither found nor missing. */
  misplaced?: number
  /** The request that names the thing; `place` is where the caller of a management key works. */
  ask(id: string, world: World, place: Place): Omit<Ask, 'method'> | Promise<Omit<Ask, 'method'>>
}

/** A management key administers the organisation: things of all its workspaces. */
export const ORGANISATION: readonly State[] = ['own', 'foreign']
/** It works in its default workspace, unless another one is named. */
export const WORKSPACE: readonly State[] = ['own']
/** Deleted things are still in the records. */
export const HISTORY: readonly State[] = ['own', 'foreign', 'deleted']

type Asked = Row['ask'] | string
type More = Partial<Omit<Row, 'ask'>> & { body?: unknown }

/** A path of `{}` for the identifier. */
export function row(
  operation: string,
  at: string,
  thing: Thing,
  ask: Asked,
  { body, ...more }: More = {},
): Row {
  const asked: Row['ask'] =
    typeof ask === 'function'
      ? ask
      : (id) => ({ path: ask.replace('{}', id), ...(body === undefined ? {} : { body }) })
  return { operation, at, thing, keys: 'management', management: ORGANISATION, ...more, ask: asked }
}
