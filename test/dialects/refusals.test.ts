import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { UpstreamError } from '../../src/core/errors.ts'
import { egresses } from '../../src/dialects/index.ts'
import { errorInReply } from '../../src/dialects/read-error.ts'

/** What a refusal means, in every dialect: the caller's, this endpoint's, or ours. */

/** A line of `refusals.jsonl`. `source`: the public issue with the body, `recorded` and the year, or what it is hand-made after. */
interface Row {
  vendor: string
  what: string
  status: number
  is: [kind: string, errorType?: string]
  source: string
  body: unknown
}
const lines = readFileSync(join(import.meta.dir, 'refusals.jsonl'), 'utf8')
  .trim()
  .split('\n')
const REFUSALS: readonly Row[] = lines.map((line) => JSON.parse(line))

test('the bodies are of at least twenty vendors, each with its source', () => {
  expect(new Set(REFUSALS.map(({ vendor }) => vendor)).size).toBeGreaterThan(20)
  expect(REFUSALS.filter(({ source }) => source === '')).toEqual([])
})

describe.each(Object.entries(egresses))('%s', (_, { readError }) => {
  test.each(REFUSALS.map((row) => [`${row.vendor}: ${row.what}`, row] as const))('%s', (__, row) => {
    const { kind, errorType, status } = readError(row.status, new Headers(), JSON.stringify(row.body))
    expect<unknown[]>([kind, errorType, status]).toEqual([row.is[0], row.is[1], row.status])
  })
})

describe('without a status, in a stream', () => {
  const texts: [name: string, body: unknown, kind: string][] = [
    ['a long prompt', { error: 'The number of tokens is greater than the context length' }, 'unsuitable'],
    ['an image', { error: { message: 'Model does not support images.' } }, 'unsuitable'],
    ['an unknown failure', { error: { message: 'It broke' } }, 'server'],
  ]
  test.each(texts)('%s', (_, body, kind) => {
    const error = errorInReply(body, 200)
    expect(error).toBeInstanceOf(UpstreamError)
    expect(String(error.kind)).toBe(kind)
  })
})

test('a status that blames our key or the load is not overruled by a list of reasons', () => {
  const body = JSON.stringify({ error: { message: 'No', innererror: { code: 'x' } } })
  const kinds = [401, 402, 429, 500].map(
    (status) => egresses.chat.readError(status, new Headers(), body).kind,
  )
  expect(kinds).toEqual(['credential', 'credential', 'rate-limit', 'server'])
})

test('a message that repeats the prompt is read to its end', () => {
  const message = `${'word '.repeat(10_000)}: prompt is too long`
  const error = egresses.chat.readError(400, new Headers(), JSON.stringify({ error: { message } }))
  expect(error.errorType).toBe('context_length_exceeded')
})
