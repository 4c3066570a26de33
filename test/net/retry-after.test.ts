import { expect, test } from 'bun:test'
import { retryAfterMs } from '../../src/net/headers.ts'

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0)

const SECONDS: [value: string, waitMs: number][] = [
  ['0', 0],
  ['1', 1000],
  ['1.5', 1500],
  ['34', 34_000],
  [' 7 ', 7000],
  ['300', 300_000],
  ['301', 60_000],
  ['86400', 60_000],
  ['999999999999999999999999', 60_000],
  ['-1', 60_000],
  ['', 60_000],
  ['soon', 60_000],
  ['1e3', 60_000],
  ['0x10', 60_000],
  ['NaN', 60_000],
  ['Infinity', 60_000],
  ['12 seconds', 60_000],
  ['1, 2', 60_000],
]

const DATES: [value: string, waitMs: number][] = [
  ['Fri, 20 Nov 2026 12:00:30 GMT', 30_000],
  ['Fri, 20 Nov 2026 12:00:00 GMT', 0],
  ['Friday, 20-Nov-26 12:00:10 GMT', 10_000],
  ['Fri Nov 20 12:00:20 2026', 20_000],
  ['Fri, 20 Nov 2026 12:05:00 GMT', 300_000],
  ['Fri, 20 Nov 2026 12:05:01 GMT', 60_000],
  ['Fri, 20 Nov 2026 11:59:00 GMT', 60_000],
  ['Thu, 01 Jan 1970 00:00:00 GMT', 60_000],
  ['Fri, 99 Nov 2026 12:00:30 GMT', 60_000],
  ['2026-11-20T12:00:30Z', 60_000],
]

test.each([...SECONDS, ...DATES])('retry-after: %p is a wait of %p ms', (value, waitMs) => {
  expect(retryAfterMs(new Headers({ 'retry-after': value }), NOW)).toBe(waitMs)
})

test('a date that names the running second is no wait', () => {
  expect(retryAfterMs(new Headers({ 'retry-after': 'Fri, 20 Nov 2026 12:00:00 GMT' }), NOW + 999)).toBe(0)
})

const FINE: [headers: Record<string, string>, waitMs: number][] = [
  [{ 'retry-after-ms': '250' }, 250],
  [{ 'retry-after-ms': '250.2' }, 251],
  [{ 'retry-after-ms': '250', 'retry-after': '9' }, 250],
  [{ 'retry-after-ms': 'x', 'retry-after': '9' }, 9000],
  [{ 'retry-after-ms': 'x' }, 60_000],
  [{ 'retry-after-ms': '-5' }, 60_000],
  [{ 'retry-after-ms': '300001' }, 60_000],
]

test.each(FINE)('%p is a wait of %p ms', (headers, waitMs) => {
  expect(retryAfterMs(new Headers(headers), NOW)).toBe(waitMs)
})

test('no header is null', () => {
  expect(retryAfterMs(new Headers(), NOW)).toBeNull()
})

test('a caller that waits for longer believes longer waits', () => {
  const hours = (count: number) => new Headers({ 'retry-after': String(count * 3_600) })
  expect(retryAfterMs(hours(23), NOW, 24 * 3_600_000)).toBe(23 * 3_600_000)
  expect(retryAfterMs(hours(25), NOW, 24 * 3_600_000)).toBe(60_000)
})
