import { describe, expect, test } from 'bun:test'
import { newTrace, readTraceparent, spanIdOfText, stateOf, traceNamed } from '../../src/core/trace-context.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const SPAN = 'b7ad6b7169203331'
const known = { traceId: TRACE, spanId: SPAN, state: null, isSampled: true }

describe('traceparent', () => {
  test.each([
    [`00-${TRACE}-${SPAN}-01`, known],
    [`00-${TRACE}-${SPAN}-00`, { ...known, isSampled: false }],
    // Unknown flags are ignored, the first bit counts.
    [`00-${TRACE}-${SPAN}-ff`, known],
    [`00-${TRACE}-${SPAN}-02`, { ...known, isSampled: false }],
    // Later versions are read by their first four fields.
    [`01-${TRACE}-${SPAN}-01`, known],
    [`cc-${TRACE}-${SPAN}-01-what-the-future-will-be`, known],
    [`fe-${TRACE}-${SPAN}-01-`, known],
  ])('%s is read', (header, expected) => {
    expect(readTraceparent(header, null)).toEqual(expected)
  })

  test.each([
    '',
    `ff-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01-more`,
    `00-${TRACE}-${SPAN}-01-`,
    `cc-${TRACE}-${SPAN}-01.more`,
    `00-${'0'.repeat(32)}-${SPAN}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE.toUpperCase()}-${SPAN}-01`,
    `00-${TRACE}-${SPAN.toUpperCase()}-01`,
    `0-${TRACE}-${SPAN}-01`,
    `00-${TRACE.slice(1)}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}1-01`,
    `00-${TRACE}-${SPAN}-1`,
    `00-${TRACE}-${SPAN}-0x`,
    ` 00-${TRACE}-${SPAN}-01`,
    `00-${TRACE}-${SPAN}-01, 00-${TRACE}-${SPAN}-01`,
    `01-${TRACE}-${SPAN}-01-${'x'.repeat(1000)}`,
  ])('%s is ignored', (header) => {
    expect(readTraceparent(header, 'a=1')).toBeNull()
  })
})

describe('tracestate', () => {
  test('is kept as it is, up to 512 characters of complete members', () => {
    expect(stateOf(null)).toBeNull()
    expect(stateOf(' rojo=00f067aa0ba902b7,congo=t61rcWkgMzE ')).toBe(
      'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE',
    )
    const members = Array.from({ length: 60 }, (_, at) => `vendor${at}=value-${at}`)
    const kept = stateOf(members.join(','))
    expect(kept?.length).toBeLessThanOrEqual(512)
    expect(members.join(',').startsWith(`${kept},`)).toBe(true)
    expect(stateOf('a=1,b=2', 3)).toBe('a=1')
  })

  test('is dropped if it has other characters, or no member fits', () => {
    expect(stateOf('a=ü')).toBeNull()
    expect(stateOf('a=1\nb=2')).toBeNull()
    expect(stateOf(`a=${'x'.repeat(600)}`)).toBeNull()
    expect(stateOf(','.repeat(10_000))).toBeNull()
    expect(stateOf('  ')).toBeNull()
  })
})

describe('the trace of a body', () => {
  const header = readTraceparent(`00-${TRACE}-${SPAN}-01`, 'a=1') ?? newTrace('')

  test('takes precedence over the header', () => {
    const other = 'c'.repeat(32)
    expect(traceNamed(header, other)).toEqual({ ...header, traceId: other, spanId: null, state: null })
    expect(traceNamed(header, TRACE.toUpperCase())).toBe(header)
    expect(traceNamed(header, undefined)).toBe(header)
    expect(traceNamed(header, '')).toBe(header)
  })

  test('is hashed if it is not an id', () => {
    for (const text of ['order 7', '0'.repeat(32), TRACE.slice(1), `${TRACE}0`]) {
      const { traceId } = traceNamed(header, text)
      expect(traceId).toMatch(/^[0-9a-f]{32}$/)
      expect(traceId).not.toBe(TRACE)
      expect(traceNamed(newTrace(''), text).traceId).toBe(traceId)
    }
    expect(spanIdOfText('0'.repeat(16))).toMatch(/^(?!0{16})[0-9a-f]{16}$/)
  })
})
