import type { DialectName, JsonObject } from '../../src/core/events.ts'
import { range } from './samples.ts'

/** A provider's reply in which one list or map, or the stream itself, has n entries. */
export interface ReplyList {
  dialect: DialectName
  name: string
  isStreamed: boolean
  body(n: number): string | Uint8Array
}

export type Entries = Readonly<Record<string, (n: number) => JsonObject[]>>

export const sse = (events: readonly JsonObject[]): string =>
  events
    .map((event) => `${event['type'] ? `event: ${event['type']}\n` : ''}data: ${JSON.stringify(event)}\n\n`)
    .join('')
export const unknown = (n: number): JsonObject => Object.fromEntries(range(n, (i) => [`unknown_${i}`, i]))
export const list =
  (dialect: DialectName, isStreamed: boolean, write: (entries: JsonObject[]) => string | Uint8Array) =>
  ([name, entries]: [string, (n: number) => JsonObject[]]): ReplyList => ({
    dialect,
    name: `${dialect}, ${isStreamed ? 'streamed' : 'unary'}: ${name}`,
    isStreamed,
    body: (n) => write(entries(n)),
  })

export const call = (i: number): JsonObject => ({
  id: `call_${i}`,
  type: 'function',
  function: { name: 'look', arguments: '{}' },
})
export const token = { token: 'a', logprob: -1, bytes: [97], top_logprobs: [] }

export const named = <T>(rows: Readonly<Record<string, T>>): [string, T][] => Object.entries(rows)
export const one = (of: (n: number) => JsonObject) => (n: number) => [of(n)]
