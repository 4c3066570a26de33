import type { JsonObject } from '../../core/events.ts'
import { isObject } from '../../core/json.ts'

/** What the references of all schemas of one request may say in their places: real ones stay below a tenth of it. */
export const MAX_EXPANDED_KEYWORDS = 20_000
export const MAX_EXPANDED_CHARACTERS = 1_000_000
/** References within what references name. */
const MAX_DEPTH = 24
/** Longer pointers lead nowhere. */
const MAX_POINTER_CHARACTERS = 1_000

/** What may still be written out in the places of references; one for each request. */
export interface Room {
  keywords: number
  characters: number
}

export const createRoom = (): Room => ({
  keywords: MAX_EXPANDED_KEYWORDS,
  characters: MAX_EXPANDED_CHARACTERS,
})

/** The references of one schema. */
export interface Expansion {
  readonly root: JsonObject
  readonly room: Room
  /** Each pointer is resolved once. */
  readonly targets: Map<string, JsonObject | undefined>
  /** Nothing more is expanded, and what was is not used. */
  isOver: boolean
}

export const createExpansion = (root: JsonObject, room: Room): Expansion => ({
  root,
  room,
  targets: new Map(),
  isOver: false,
})

/** Counts keywords and the value of one; false as soon as all together are too much. */
export function count(expansion: Expansion, keywords: number, value?: unknown): boolean {
  if (expansion.isOver) return false
  const { room } = expansion
  room.keywords -= keywords
  if (typeof value === 'string') room.characters -= value.length
  else if (value !== undefined) room.characters -= JSON.stringify(value).length
  expansion.isOver = room.keywords < 0 || room.characters < 0
  return !expansion.isOver
}

/** False where references are nested too deeply. */
export function within(expansion: Expansion, depth: number): boolean {
  if (depth >= MAX_DEPTH) expansion.isOver = true
  return !expansion.isOver
}

/** What `#/$defs/Name`, or another pointer into the same schema, names. */
export function targetOf({ root, targets }: Expansion, reference: string): JsonObject | undefined {
  if (reference.length > MAX_POINTER_CHARACTERS) return undefined
  if (!targets.has(reference)) targets.set(reference, resolve(reference, root))
  return targets.get(reference)
}

function resolve(reference: string, root: JsonObject): JsonObject | undefined {
  if (!reference.startsWith('#')) return undefined
  let value: unknown = root
  for (const step of reference.slice(1).split('/').slice(1)) {
    const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
    if (!isObject(value) || !Object.hasOwn(value, key)) return undefined
    value = value[key]
  }
  if (!isObject(value)) return undefined
  if (value !== root) return value
  const { $defs: _defs, definitions: _definitions, ...rest } = value
  return rest
}
