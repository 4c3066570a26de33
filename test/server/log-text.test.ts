import { describe, expect, test } from 'bun:test'
import { logJson, logText } from '../../src/server/log-text.ts'

/** The line without its clock, which is that of this machine. */
const textOf = (fields: object): string => {
  const text = logText(JSON.stringify({ level: 30, time: '2026-07-01T10:20:30.456Z', ...fields }))
  expect(text).toMatch(/^\d\d:\d\d:\d\d /)
  return text.slice('00:00:00 '.length)
}

describe('a log line for people', () => {
  test('has the level, the message and the other fields', () => {
    expect(textOf({ msg: 'listening', address: 'http://127.0.0.1:4141', data: '/var/my data', n: 3 })).toBe(
      'INFO  listening  address=http://127.0.0.1:4141  data="/var/my data"  n=3\n',
    )
    expect(textOf({ level: 40, msg: 'low', providers: ['lab', 'open ai'], at: null })).toBe(
      'WARN  low  providers=lab,"open ai"  at=null\n',
    )
  })

  test('of a request begins with what was called, its status and its time', () => {
    const request = { method: 'POST', path: '/api/v1/chat/completions', status: 200, total_ms: 12 }
    expect(textOf({ msg: 'request', request_id: 'req-1', ...request, model: 'lab/tiny' })).toBe(
      'INFO  POST /api/v1/chat/completions 200 in 12 ms  request_id=req-1  model=lab/tiny\n',
    )
    expect(textOf({ msg: 'request', status: 200, total_ms: 7 })).toBe('INFO  request 200 in 7 ms\n')
  })

  test('shows where an error happened', () => {
    const stack = 'RangeError: too far\n    at go (/app/go.ts:1:2)'
    expect(textOf({ level: 50, msg: 'failed', err: { type: 'RangeError', stack } })).toBe(
      'ERROR failed\n         RangeError: too far\n             at go (/app/go.ts:1:2)\n',
    )
    expect(textOf({ level: 50, msg: 'failed', err: { type: 'UpstreamError', status: 502 } })).toBe(
      'ERROR failed\n         UpstreamError  status=502\n',
    )
  })

  test('has no character that a terminal obeys, and stays one line', () => {
    const text = textOf({ msg: 'request', method: 'GET', path: '/a\u001b[2J\nb', status: 404, total_ms: 1 })
    expect(text).toBe('INFO  GET /a?[2J?b 404 in 1 ms\n')
    expect(textOf({ msg: 'x', model: '\u009b31m\u007f' })).toBe('INFO  x  model="?31m?"\n')
    expect(textOf({ msg: 'x', model: 'a\u202eb\u2066\u2028c' })).toBe('INFO  x  model="a?b??c"\n')
  })

  test('a line that is not a JSON object stays as it is', () => {
    expect(logText('starting\n')).toBe('starting\n')
  })
})

test('a JSON line has none either, and the same values', () => {
  const entry = { model: 'é漢😀 \u0085{"level":60}\u2028\u009b2J\u007f\u202e' }
  const line = `${JSON.stringify(entry)}\n`
  const written = logJson(line.repeat(2))
  expect(written).toBe('{"model":"é漢😀 \\u0085{\\"level\\":60}\\u2028\\u009b2J\\u007f\\u202e"}\n'.repeat(2))
  expect(JSON.parse(written.split('\n')[0] ?? '')).toEqual(entry)
})
