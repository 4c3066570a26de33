import { list, type Scale } from '../shape.ts'

/** The streams of one dialect of providers, as the payloads of their events. */
export interface Stream {
  /** A short answer that is no stream. */
  plain: string
  wrap(payload: string): string | Uint8Array
  shapes: Readonly<Record<string, (scale: Scale) => Iterable<string>>>
  /** Whole bodies. */
  bodies?: Readonly<Record<string, (scale: Scale) => string>>
}

export const COUNT = 100_000

/** A long text in parts, of 64 MB in all: more than any one event may hold. */
export const LONG_PARTS = 1000
export const PART = 'word '.repeat(12_800)

export const data = (payload: string): string => `data: ${payload}\n\n`

/** `head`, one event for each index, `tail`. */
export const many = (
  head: readonly string[],
  count: number,
  item: (index: number) => string,
  tail: readonly string[],
) =>
  function* (scale: Scale): Iterable<string> {
    yield* head
    for (let index = 0; index < count * scale; index++) yield item(index)
    yield* tail
  }
export const once = (head: readonly string[], item: (scale: Scale) => string, tail: readonly string[]) =>
  function* (scale: Scale): Iterable<string> {
    yield* head
    yield item(scale)
    yield* tail
  }
export const manyFields = (scale: Scale): string =>
  list(scale, 1_000_000, (index) => `"f${index}":1`).slice(1, -1)

/** Of one token, as chat and Responses have it. */
export const logprob =
  '{"token":"a","logprob":-1,"bytes":[97],"top_logprobs":[{"token":"a","logprob":-1,"bytes":[97]}]}'
