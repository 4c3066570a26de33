import { expect, test } from 'bun:test'
import { createAttempts } from '../../src/admin/identity/auth/attempts.ts'

const START = Date.UTC(2026, 6, 1)
const MINUTE = 60_000
let now = START
const clock = () => now

const isRefused = (attempt: object): boolean => 'retryAfterSeconds' in attempt
const guess = (
  attempts: ReturnType<typeof createAttempts>,
  account: string,
  address: string,
  times: number,
) => Array.from({ length: times }, () => isRefused(attempts.begin(account, address))).filter(Boolean).length

test('refused attempts make the limiter forget nothing', () => {
  now = START
  const attempts = createAttempts(clock)
  expect(guess(attempts, 'owner', '192.0.2.1', 6)).toBe(1)
  // Another address is used up, and goes on with other names: each of these is refused.
  for (let time = 0; time < 30; time++) attempts.begin(`warm ${time}`, '192.0.2.9')
  let refused = 0
  for (let time = 0; time < 40_000; time++) {
    if (isRefused(attempts.begin(`made up ${time}`, '192.0.2.9'))) refused++
  }
  expect(refused).toBe(40_000)
  expect(isRefused(attempts.begin('owner', '192.0.2.1'))).toBe(true)
})

test('counters that have reached their limit stay, however many others come', () => {
  now = START
  const attempts = createAttempts(clock)
  guess(attempts, 'owner', '192.0.2.1', 5)
  // Botnets have addresses enough: none of these is refused.
  for (let time = 0; time < 70_000; time++) {
    attempts.begin(`made up ${time}`, `10.${time >> 16}.${(time >> 8) & 255}.${time & 255}`)
  }
  expect(isRefused(attempts.begin('owner', '192.0.2.1'))).toBe(true)
  now += 16 * MINUTE
  expect(isRefused(attempts.begin('owner', '192.0.2.1'))).toBe(false)
})

test('counters with the most failures go last, and memory is bounded', () => {
  now = START
  const attempts = createAttempts(clock, 100)
  guess(attempts, 'owner', '192.0.2.1', 4)
  for (let time = 0; time < 1_000; time++)
    attempts.begin(`made up ${time}`, `10.0.${time >> 8}.${time & 255}`)
  expect(guess(attempts, 'owner', '192.0.2.1', 2)).toBe(1)
})

test('once every counter is at its limit, new keys are rejected and known ones are counted as before', () => {
  now = START
  const attempts = createAttempts(clock, 10)
  for (let each = 0; each < 10; each++) guess(attempts, `account ${each}`, `192.0.2.${each}`, 5)
  const reply = attempts.begin('fresh', '198.51.100.1')
  expect(reply).toMatchObject({ retryAfterSeconds: 60, isFirst: false })
  now += 16 * MINUTE
  expect(isRefused(attempts.begin('fresh', '198.51.100.1'))).toBe(false)
})

test('a success forgets an account, and one failure of its address', () => {
  now = START
  const attempts = createAttempts(clock)
  for (let time = 0; time < 100; time++) {
    const attempt = attempts.begin('owner', '192.0.2.1')
    if (!('succeed' in attempt)) throw new Error('refused')
    attempt.succeed()
  }
  expect(guess(attempts, 'owner', '192.0.2.1', 6)).toBe(1)
})

test('a clock that is set back does not extend a lockout, and one that is set forward ends the window', () => {
  now = START
  const attempts = createAttempts(clock)
  guess(attempts, 'owner', '192.0.2.1', 5)
  now -= 24 * 60 * MINUTE
  expect(attempts.begin('owner', '192.0.2.1')).toMatchObject({ retryAfterSeconds: 900 })
  now += 15 * MINUTE
  expect(isRefused(attempts.begin('owner', '192.0.2.1'))).toBe(false)
  guess(attempts, 'owner', '192.0.2.1', 5)
  now += 24 * 60 * MINUTE
  expect(isRefused(attempts.begin('owner', '192.0.2.1'))).toBe(false)
})
