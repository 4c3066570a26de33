import { expect, test } from 'bun:test'
import { passableHeaders, upstreamRequestId } from '../../src/net/headers.ts'

test('only hints about when to call again are passed on', () => {
  const headers = new Headers({
    'retry-after': '3',
    'retry-after-ms': '2500',
    'x-ratelimit-limit-requests': '100',
    'x-ratelimit-remaining': '0',
    'ratelimit-reset': '5',
    'anthropic-ratelimit-tokens-remaining': '12',
    'content-type': 'application/json',
    'content-encoding': 'gzip',
    'content-length': '3',
    'set-cookie': 'session=1',
    'alt-svc': 'h3',
    server: 'nginx',
    'x-request-id': 'abc',
    'openai-organization': 'acme',
    authorization: 'Bearer x',
    'transfer-encoding': 'chunked',
    'access-control-allow-origin': '*',
  })
  expect(passableHeaders(headers)).toEqual({
    'retry-after': '3',
    'retry-after-ms': '2500',
    'x-ratelimit-limit-requests': '100',
    'x-ratelimit-remaining': '0',
    'ratelimit-reset': '5',
    'anthropic-ratelimit-tokens-remaining': '12',
  })
})

test('a value that is long or not visible ASCII is not passed on', () => {
  const headers = new Headers({
    'x-ratelimit-limit': 'a'.repeat(257),
    'x-ratelimit-reset': 'é',
    'x-ratelimit-remaining': '1',
  })
  expect(passableHeaders(headers)).toEqual({ 'x-ratelimit-remaining': '1' })
})

const REQUEST_IDS: [headers: Record<string, string>, id: string | null][] = [
  [{ 'x-request-id': 'req-1', 'cf-ray': 'ray' }, 'req-1'],
  [{ 'request-id': 'req_2' }, 'req_2'],
  [{ 'x-amzn-requestid': 'aws' }, 'aws'],
  [{ 'apim-request-id': 'azure' }, 'azure'],
  [{ 'cf-ray': 'ray' }, 'ray'],
  [{ 'x-request-id': 'x'.repeat(300), 'cf-ray': 'ray' }, 'ray'],
  [{}, null],
]

test.each(REQUEST_IDS)('the provider’s request id of %p is %p', (headers, id) => {
  expect(upstreamRequestId(new Headers(headers))).toBe(id)
})
