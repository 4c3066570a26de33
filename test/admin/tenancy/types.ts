/** Two workspaces, callers of every kind, and the kinds of things that operations name. */
import type { Handler } from '../../../src/http/edge.ts'
import type { Gateway } from '../../gateway.ts'
import type { Browser } from '../people.ts'

export interface Ask {
  method: string
  /** Below `/api/v1`. */
  path: string
  body?: unknown
}
export interface Received {
  status: number
  text: string
  json: Record<string, unknown>
  headers: Headers
}

/** A workspace, and an inference key of it. */
export interface Place {
  id: string
  key: string
}

export interface World {
  gateway: Gateway
  handler: Handler
  /** The default workspace: of the first inference key and of the management key. */
  own: Place
  foreign: Place
  /** An inference key of `own` that is disabled. */
  disabledKey: string
  /** Browsers with a session: of an administrator, and of a member of `own` only. */
  admin: Browser
  member: Browser
  /** With a key, with a session, or without either. */
  ask(caller: string | Browser | null, ask: Ask): Promise<Received>
  /** With the management key; throws unless it succeeds. */
  manage(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>
}

/** A kind of thing that operations name. */
export interface Thing {
  make(world: World, place: Place): Promise<string>
  /** Removes it; absent if nothing can. */
  remove?(world: World, id: string, place: Place): Promise<unknown>
  /** An unused id of the same form. */
  random(): string
  /** Where it is read; with the management key, or with the key of its place. */
  readAt?(id: string, place: Place): { path: string; with: 'management' | 'inference' }
}
