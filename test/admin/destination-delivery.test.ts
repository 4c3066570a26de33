import { afterAll, describe, expect, test } from 'bun:test'
import { ADDRESSES } from '../exporters/address-fields.ts'
import type { Reply } from '../scenario.ts'
import { administration } from './administration.ts'
import { configFor, DESTINATIONS, makeDestination } from './destinations.ts'
import { dataOf } from './people.ts'

let received: { method: string; path: string; headers: Headers; body: Uint8Array }[] = []
let answer = 202
const collector = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const { pathname } = new URL(request.url)
    received.push({
      method: request.method,
      path: pathname,
      headers: request.headers,
      body: await request.bytes(),
    })
    return new Response('canary-of-the-collector', { status: answer, headers: { location: '/elsewhere' } })
  },
})
const admin = administration({ environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1' } })
afterAll(() => collector.stop(true))

describe('a test event', () => {
  const base = () => `http://127.0.0.1:${collector.port}`
  async function tried(fields: object, status = 202): Promise<Reply> {
    received = []
    answer = status
    const { id } = await makeDestination(admin, fields)
    return await admin.manage('POST', `${DESTINATIONS}/${id}/test`)
  }

  test.each([
    [
      'webhook',
      () => ({ url: `${base()}/in`, method: 'PUT', headers: { 'x-own': 'yes' } }),
      'PUT',
      '/in',
      { 'x-own': 'yes' },
    ],
    ['otel-collector', () => ({ endpoint: `${base()}/otel/` }), 'POST', '/otel/v1/traces', {}],
    ['otel-collector', () => ({ endpoint: `${base()}/v1/traces` }), 'POST', '/v1/traces', {}],
    [
      'langfuse',
      () => ({ publicKey: 'pk', secretKey: 'sk', baseUrl: base() }),
      'POST',
      '/api/public/otel/v1/traces',
      { authorization: `Basic ${btoa('pk:sk')}` },
    ],
    [
      'grafana',
      () => ({ instanceId: '7', apiKey: 'glc', baseUrl: base() }),
      'POST',
      '/otlp/v1/traces',
      { authorization: `Basic ${btoa('7:glc')}` },
    ],
  ])('to %s is one trace', async (type, config, method, path, headers) => {
    const reply = await tried({ type, config: config() })
    expect(dataOf(reply)).toEqual({
      success: true,
      status: 202,
      message: `127.0.0.1:${collector.port} answered 202: it accepted the test event`,
    })
    expect(received).toHaveLength(1)
    expect(received[0]).toMatchObject({ method, path })
    expect(new TextDecoder().decode(received[0]?.body)).toContain('sluice.test')
    for (const [name, value] of Object.entries(headers)) expect(received[0]?.headers.get(name)).toBe(value)
    const encoding = type === 'webhook' ? 'application/json' : 'application/x-protobuf'
    expect(received[0]?.headers.get('content-type')).toBe(encoding)
  })

  test.each([
    [401, 'refuses the credential'],
    [404, 'nothing at this address'],
    [302, 'redirects'],
    [500, 'it failed'],
    [422, 'does not accept'],
  ])('reports a status of %i, without the body', async (status, words) => {
    const reply = await tried({ config: { url: `${base()}/in` } }, status)
    expect(dataOf(reply)).toMatchObject({ success: false, status, message: expect.stringContaining(words) })
    expect(reply.text).not.toContain('canary')
    expect(received).toHaveLength(1)
  })

  test('reports that a host cannot be reached', async () => {
    const closed = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
    const { port } = closed
    await closed.stop(true)
    const reply = await tried({ config: { url: `http://127.0.0.1:${port}/` } })
    expect(dataOf(reply)).toEqual({
      success: false,
      status: null,
      message: `127.0.0.1:${port} could not be reached`,
    })
  })

  test.each(Object.entries(ADDRESSES))('reaches %s', async (type, field) => {
    const reply = await tried({ type, config: { ...configFor(type), [field]: base() } }, 200)
    expect(dataOf(reply)).toMatchObject({ status: 200 })
    expect(received).toHaveLength(1)
    expect(received[0]?.body.length).toBeGreaterThan(100)
  })
})
