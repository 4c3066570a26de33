import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { formatInstant, INTERVALS, resetsAt, windowStart } from '../../src/ledger/windows.ts'

const at = (text: string): number => Date.parse(text)

const boundaries = [
  // instant, day, Monday, month, then the three resets
  [
    '2026-11-21T23:59:59.999Z',
    '2026-11-21',
    '2026-11-16',
    '2026-11-01',
    '2026-11-22',
    '2026-11-23',
    '2026-12-01',
  ],
  [
    '2026-11-22T00:00:00.000Z',
    '2026-11-22',
    '2026-11-16',
    '2026-11-01',
    '2026-11-23',
    '2026-11-23',
    '2026-12-01',
  ],
  [
    '2026-11-22T23:59:59.999Z',
    '2026-11-22',
    '2026-11-16',
    '2026-11-01',
    '2026-11-23',
    '2026-11-23',
    '2026-12-01',
  ],
  [
    '2026-11-23T00:00:00.000Z',
    '2026-11-23',
    '2026-11-23',
    '2026-11-01',
    '2026-11-24',
    '2026-11-30',
    '2026-12-01',
  ],
  [
    '2026-11-30T23:59:59.999Z',
    '2026-11-30',
    '2026-11-30',
    '2026-11-01',
    '2026-12-01',
    '2026-12-07',
    '2026-12-01',
  ],
  [
    '2026-12-01T00:00:00.000Z',
    '2026-12-01',
    '2026-11-30',
    '2026-12-01',
    '2026-12-02',
    '2026-12-07',
    '2027-01-01',
  ],
  [
    '2026-12-31T23:59:59.999Z',
    '2026-12-31',
    '2026-12-28',
    '2026-12-01',
    '2027-01-01',
    '2027-01-04',
    '2027-01-01',
  ],
  [
    '2027-01-01T00:00:00.000Z',
    '2027-01-01',
    '2026-12-28',
    '2027-01-01',
    '2027-01-02',
    '2027-01-04',
    '2027-02-01',
  ],
  [
    '2028-02-28T23:59:59.999Z',
    '2028-02-28',
    '2028-02-28',
    '2028-02-01',
    '2028-02-29',
    '2028-03-06',
    '2028-03-01',
  ],
  [
    '2028-02-29T12:00:00.000Z',
    '2028-02-29',
    '2028-02-28',
    '2028-02-01',
    '2028-03-01',
    '2028-03-06',
    '2028-03-01',
  ],
  [
    '2028-03-01T00:00:00.000Z',
    '2028-03-01',
    '2028-02-28',
    '2028-03-01',
    '2028-03-02',
    '2028-03-06',
    '2028-04-01',
  ],
] as const

test.each(boundaries)('windows around %s', (instant, day, monday, month, nextDay, nextMonday, nextMonth) => {
  const now = at(instant)
  expect(windowStart('daily', now)).toBe(at(day))
  expect(windowStart('weekly', now)).toBe(at(monday))
  expect(windowStart('monthly', now)).toBe(at(month))
  expect(resetsAt('daily', now)).toBe(at(nextDay))
  expect(resetsAt('weekly', now)).toBe(at(nextMonday))
  expect(resetsAt('monthly', now)).toBe(at(nextMonth))
  expect(windowStart('lifetime', now)).toBe(0)
  expect(resetsAt('lifetime', now)).toBeNull()
})

test('every instant lies in exactly one window, which begins where the former one ended', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: at('2200-01-01') }), (now) => {
      for (const interval of INTERVALS) {
        const start = windowStart(interval, now)
        const end = resetsAt(interval, now) ?? Number.POSITIVE_INFINITY
        expect(start <= now && now < end).toBe(true)
        expect(windowStart(interval, start)).toBe(start)
        if (Number.isFinite(end)) {
          expect(windowStart(interval, end)).toBe(end)
          expect(windowStart(interval, end - 1)).toBe(start)
        }
        if (interval === 'weekly') expect(new Date(start).getUTCDay()).toBe(1)
      }
    }),
  )
})

const HOURS_OF_A_YEAR = `
  import { INTERVALS, resetsAt, windowStart } from '${import.meta.dir}/../../src/ledger/windows.ts'
  const seen = []
  for (let at = Date.UTC(2028, 0, 1); at < Date.UTC(2029, 0, 2); at += 3_599_000) {
    for (const interval of INTERVALS) seen.push(windowStart(interval, at), resetsAt(interval, at))
  }
  console.log(new Date(2028, 6, 1).getTimezoneOffset(), Bun.hash(JSON.stringify(seen)))
`

test('the time zone of the host does not move a window', () => {
  const zones = ['UTC', 'Pacific/Kiritimati', 'America/New_York', 'Asia/Kathmandu', 'Pacific/Pago_Pago']
  const answers = zones.map((zone) => {
    const child = Bun.spawnSync([process.execPath, '-e', HOURS_OF_A_YEAR], {
      env: { ...process.env, TZ: zone },
    })
    return child.stdout.toString().trim().split(' ')
  })
  expect(new Set(answers.map(([offset]) => offset)).size).toBe(zones.length)
  expect(new Set(answers.map(([, hash]) => hash)).size).toBe(1)
  expect(answers[0]?.[1]).toMatch(/^\d+n?$/)
})

test('instants are written in whole seconds of UTC', () => {
  expect(formatInstant(at('2026-11-22T00:00:00.000Z'))).toBe('2026-11-22T00:00:00Z')
})
