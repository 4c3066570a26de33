import { expect, test } from 'bun:test'
import { createApprovedCalls } from '../../../src/inference/tools/approved-calls.ts'
import type { EndedCall } from '../../../src/inference/tools/ended-call.ts'

const HOUR_MS = 3_600_000
const ended: EndedCall = {
  call: { id: '', name: '', type: 'mcp', status: 'completed', arguments: {}, text: '', item: {} },
  message: '',
  result: null,
  refusal: null,
  findings: [],
}

test('each key runs once in an hour, and 500 keys are known', async () => {
  let now = 0
  let runs = 0
  const calls = createApprovedCalls(() => now)
  const run = async () => {
    runs += 1
    return ended
  }
  for (let i = 0; i < 3; i++) expect(await calls.once('a', run)).toBe(ended)
  expect(runs).toBe(1)
  now = HOUR_MS
  await calls.once('a', run)
  expect(runs).toBe(2)
  for (let i = 0; i < 501; i++) await calls.once(`other ${i}`, run)
  await calls.once('other 500', run)
  expect(runs).toBe(503)
  await calls.once('a', run)
  expect(runs).toBe(504)
})
