import { expect, test } from 'bun:test'
import type { Gate } from '../../src/core/gate.ts'
import { keepHeldWindows } from '../../src/ledger/held-windows.ts'
import { keyGate, NOON } from './fixture.ts'

const DAY_MS = 86_400_000
/** More counters than stay in memory without a reservation. */
const MANY = 50_000

test('a list is found again on its day, and anew on the next', () => {
  const windowsOf = keepHeldWindows()
  const gates = [keyGate(100), keyGate(200, { interval: 'lifetime' })]
  const first = windowsOf(gates, NOON)
  expect(windowsOf(gates, NOON + 1)).toBe(first)
  const next = windowsOf(gates, NOON + DAY_MS)
  expect(next.counted[0] === first.counted[0]).toBe(false)
  expect(next.counted[1] === first.counted[1]).toBe(true)
})

test('gates of two lists that count the same look at one counter, and two of one list hold it once', () => {
  const windowsOf = keepHeldWindows()
  const one = windowsOf([keyGate(100), keyGate(50, { includeByok: true })], NOON)
  const other = windowsOf([keyGate(70)], NOON)
  expect(one.counted[1] === one.counted[0]).toBe(true)
  expect(other.counted[0] === one.counted[0]).toBe(true)
  expect(one.windows.filter(({ counted }) => counted === one.counted[0])).toHaveLength(1)
  expect(one.windows[0]).toMatchObject({ hasByok: true, hasShared: true })
  expect(other.windows[0]).toMatchObject({ hasByok: false, hasShared: true })
})

test('a list is held in every interval of its scopes, by what its gates count', () => {
  const windowsOf = keepHeldWindows()
  const { windows } = windowsOf(
    [keyGate(100, { interval: 'daily', includeByok: true }), keyGate(200, { interval: 'monthly' })],
    NOON,
  )
  const flags = windows.map(({ counted, hasByok, hasShared }) => [counted.key.interval, hasByok, hasShared])
  expect(flags).toEqual([
    ['daily', true, false],
    ['monthly', false, true],
    ['weekly', true, true],
    ['lifetime', true, true],
  ])
})

test('a window with a reservation stays in memory beside any number of others, and another is a single object again after a clear', () => {
  const windowsOf = keepHeldWindows()
  const held: Gate[] = [keyGate(100)]
  const idle: Gate[] = [keyGate(100, { id: 'idle' })]
  const before = windowsOf(held, NOON).counted[0]
  const idleBefore = windowsOf(idle, NOON).counted[0]
  if (before === undefined) throw new Error('a gate has a counter')
  before.heldNanoUsd = 60
  for (let index = 0; index < MANY; index++) windowsOf([keyGate(100, { id: `key-of-${index}` })], NOON)
  expect(windowsOf([keyGate(100)], NOON).counted[0]).toBe(before)
  expect(windowsOf(held, NOON).counted[0]).toBe(before)
  // Whichever asks first, the kept list or another: none goes on with what was cleared.
  const fresh = windowsOf([keyGate(100, { id: 'idle' })], NOON).counted[0]
  expect(fresh).not.toBe(idleBefore)
  expect(windowsOf(idle, NOON).counted[0]).toBe(fresh)
})
