import { expect, test } from 'bun:test'
import { meaningOfStatus } from '../../src/exporters/meaning.ts'

const NOW = Date.UTC(2026, 0, 1)
const meaning = (status: number, headers: Record<string, string> = {}) =>
  meaningOfStatus({ status, headers: new Headers(headers) }, { now: NOW })

test.each([
  [200, 'accepted'],
  [204, 'accepted'],
  [207, 'accepted'],
  [302, 'unauthorized'],
  [400, 'refused'],
  [401, 'unauthorized'],
  [403, 'unauthorized'],
  [404, 'unauthorized'],
  [408, 'retry'],
  [413, 'too-large'],
  [422, 'refused'],
  [429, 'retry'],
  [500, 'retry'],
  [503, 'retry'],
])('a status of %i means %s', (status, outcome) => {
  expect(meaning(status)).toMatchObject({ outcome })
})

test('Retry-After is read as seconds and as a date', () => {
  expect(meaning(429, { 'retry-after': '7' })).toMatchObject({ afterMs: 7_000 })
  expect(meaning(503, { 'retry-after': 'Thu, 01 Jan 2026 00:00:30 GMT' })).toMatchObject({ afterMs: 30_000 })
  expect(meaning(500)).not.toHaveProperty('afterMs')
})
