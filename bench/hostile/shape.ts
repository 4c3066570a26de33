/** How large a shape is made: 1 in the bench; less in tests, which run beside others. */
export type Scale = number

/** One request that costs its sender little and was made to cost the gateway much. */
export interface Shape {
  name: string
  /** Below the server's root. */
  path: string
  /** Default POST. */
  method?: string
  headers?: Record<string, string>
  body(scale: Scale): string | FormData | undefined
  /** With the management key. */
  isAdmin?: boolean
}

export const API = '/api/v1'

export const MEGABYTE = 1_000_000
/** A little less than the limit of inference bodies. */
export const LARGEST = 19.9 * MEGABYTE

/** `count` items made by index, as a JSON list; `count` is for a scale of 1. */
export function list(scale: Scale, count: number, item: (index: number) => string): string {
  const parts: string[] = []
  for (let index = 0; index < Math.max(1, count * scale); index++) parts.push(item(index))
  return `[${parts.join(',')}]`
}

/** The same as the fields of an object, without its braces. */
export const fields = (scale: Scale, count: number, value = '1'): string =>
  list(scale, count, (index) => `"f${index}":${value}`).slice(1, -1)

/** `unit` again and again, `bytes` in all at a scale of 1. */
export const long = (scale: Scale, unit: string, bytes = LARGEST): string =>
  unit.repeat(Math.max(1, Math.floor((bytes * scale) / unit.length)))

export const nested = (depth: number, open: string, close: string, inside = '1'): string =>
  open.repeat(depth) + inside + close.repeat(depth)

/** Definitions of which each names the next one twice: 2^count objects once they are written out. */
export function doublingSchema(count: number): object {
  const defs = Object.fromEntries(
    Array.from({ length: count }, (_, index) => {
      const ref = { $ref: `#/$defs/d${index + 1}` }
      return [`d${index}`, { type: 'object', properties: { a: ref, b: ref } }]
    }),
  )
  return {
    type: 'object',
    properties: { a: { $ref: '#/$defs/d0' } },
    $defs: { ...defs, [`d${count}`]: { type: 'string' } },
  }
}
