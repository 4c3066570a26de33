import { expect, test } from 'bun:test'
import { createWrongKeys } from '../../src/http/wrong-keys.ts'

function counting() {
  const lines: { fields: object; message: string }[] = []
  const waiting: (() => void)[] = []
  const wrongKeys = createWrongKeys({
    warn: (fields, message) => lines.push({ fields, message }),
    later(work, ms) {
      expect(ms).toBe(60_000)
      waiting.push(work)
      return () => waiting.splice(waiting.indexOf(work), 1)
    },
  })
  const aMinutePasses = () => waiting.splice(0).forEach((work) => void work())
  return { wrongKeys, lines, waiting, aMinutePasses }
}

test('a minute has one line, whatever comes; a quiet one has none', () => {
  const { wrongKeys, lines, waiting, aMinutePasses } = counting()
  expect(waiting).toHaveLength(0)
  for (let time = 0; time < 10_000; time++) wrongKeys.count('203.0.113.9')
  wrongKeys.count('198.51.100.1')
  wrongKeys.count(null)
  expect([waiting.length, lines.length]).toEqual([1, 0])
  aMinutePasses()
  const most_from = [
    { address: '203.0.113.9', count: 10_000 },
    { address: '198.51.100.1', count: 1 },
    { address: 'unknown', count: 1 },
  ]
  expect(lines).toEqual([
    {
      fields: { wrong_keys: 10_002, wrong_keys_total: 10_002, addresses: 3, most_from },
      message: 'requests with wrong API keys',
    },
  ])
  aMinutePasses()
  expect([waiting.length, lines.length]).toEqual([0, 1])
  wrongKeys.count('198.51.100.1')
  aMinutePasses()
  expect(lines[1]?.fields).toMatchObject({ wrong_keys: 1, wrong_keys_total: 10_003, addresses: 1 })
})

test('the first ten of a minute deserve a line of their own', () => {
  const { wrongKeys, aMinutePasses } = counting()
  const own = () => Array.from({ length: 50 }, () => wrongKeys.count('a')).filter(Boolean).length
  expect(own()).toBe(10)
  expect(own()).toBe(0)
  aMinutePasses()
  expect(own()).toBe(10)
})

test('memory is bounded: 10,000 addresses, and networks of IPv6 as one', () => {
  const { wrongKeys, lines, aMinutePasses } = counting()
  for (let host = 0; host < 50_000; host++) wrongKeys.count(`2001:db8:0:1::${host.toString(16)}`)
  expect(wrongKeys.addresses()).toBe(1)
  for (let host = 0; host < 50_000; host++)
    wrongKeys.count(`10.${host >> 16}.${(host >> 8) & 255}.${host & 255}`)
  expect([wrongKeys.addresses(), wrongKeys.total()]).toEqual([10_000, 100_000])
  aMinutePasses()
  expect(lines[0]?.fields).toMatchObject({ wrong_keys: 100_000, addresses: 10_000 })
  expect(JSON.stringify(lines[0]?.fields)).toContain('{"address":"2001:db8:0:1::/64","count":50000}')
  expect(wrongKeys.addresses()).toBe(0)
})

test('the end reports the remaining counts once and leaves no timer', () => {
  const { wrongKeys, lines, waiting } = counting()
  wrongKeys.count('a')
  wrongKeys.close()
  wrongKeys.close()
  expect([lines.length, waiting.length, wrongKeys.total()]).toEqual([1, 0, 1])
})
