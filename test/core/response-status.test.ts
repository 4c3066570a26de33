import { expect, test } from 'bun:test'
import {
  isAnswered,
  isFinal,
  isResponseStatus,
  mayBecome,
  RESPONSE_STATUSES,
  type ResponseStatus,
  statusesBefore,
} from '../../src/core/response-status.ts'

/** What may follow, written out: every other pair may not. */
const allowed: [from: ResponseStatus, to: ResponseStatus][] = [
  ['queued', 'in_progress'],
  ['queued', 'failed'],
  ['queued', 'cancelled'],
  ['in_progress', 'completed'],
  ['in_progress', 'incomplete'],
  ['in_progress', 'failed'],
  ['in_progress', 'cancelled'],
]
const pairs = RESPONSE_STATUSES.flatMap((from) => RESPONSE_STATUSES.map((to) => [from, to] as const))

test.each(pairs)('%s → %s', (from, to) => {
  const expected = allowed.some(([a, b]) => a === from && b === to)
  expect(mayBecome(from, to)).toBe(expected)
  expect(statusesBefore(to).includes(from)).toBe(expected)
})

test('what is final has an end, and two ends are answers', () => {
  expect(RESPONSE_STATUSES.filter(isFinal)).toEqual(['completed', 'incomplete', 'failed', 'cancelled'])
  expect(RESPONSE_STATUSES.filter(isAnswered)).toEqual(['completed', 'incomplete'])
})

test.each(['', 'done', 'constructor', null, 3])('%p is not a status', (value) => {
  expect(isResponseStatus(value)).toBe(false)
})
