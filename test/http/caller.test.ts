import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/core/errors.ts'
import { newKey } from '../../src/core/keys.ts'
import { authenticate, originOf } from '../../src/http/caller.ts'
import { createdStatus } from '../../src/http/compatibility.ts'
import { incomingOf } from '../incoming.ts'
import { keyRecordOf, snapshotOf, workspace } from './snapshots.ts'

const requestWith = (headers: Record<string, string>): Request =>
  new Request('http://localhost/', { headers })
const key = newKey('inference')
const snapshot = snapshotOf([keyRecordOf(key)])

describe('authenticate', () => {
  test('answers the key and its workspace', () => {
    const caller = authenticate(
      incomingOf(requestWith({ authorization: `Bearer ${key}` })),
      snapshot,
      'inference',
      0,
    )
    expect(caller).toMatchObject({ key: { label: expect.any(String) }, workspace })
  })

  test('a key of a workspace that is gone is not a key', () => {
    const orphan = { ...snapshot, workspacesById: new Map() }
    expect(() =>
      authenticate(incomingOf(requestWith({ authorization: `Bearer ${key}` })), orphan, 'any', 0),
    ).toThrow('Invalid API key')
  })

  test('whatever the header holds, it is a 401 that repeats nothing of it', () => {
    const visible = fc.string({
      unit: fc.integer({ min: 0x20, max: 0xff }).map((code) => String.fromCharCode(code)),
      maxLength: 300,
    })
    const almost = fc
      .tuple(fc.constantFrom('Bearer ', 'bearer  ', 'Basic ', ''), visible)
      .map((parts) => parts.join(''))
    const mutated = fc
      .tuple(fc.nat(key.length - 1), fc.constantFrom('0', 'z', '-'))
      .map(
        ([at, letter]) => `Bearer ${key.slice(0, at)}${key[at] === letter ? '' : letter}${key.slice(at + 1)}`,
      )
    fc.assert(
      fc.property(fc.oneof(visible, almost, mutated), (authorization) => {
        const headers = new Headers()
        // Some letters cannot be in a header at all.
        try {
          headers.set('authorization', authorization)
        } catch {
          return
        }
        const attempt = () =>
          authenticate(incomingOf(new Request('http://localhost/', { headers })), snapshot, 'any', 0)
        expect(attempt).toThrow(
          new GatewayError(
            401,
            /^Bearer +\S+ *$/i.test(headers.get('authorization') ?? '')
              ? 'Invalid API key: this gateway has no enabled key with this value'
              : 'Invalid API key: the Authorization header must be "Bearer <key>"',
          ),
        )
      }),
      { numRuns: 3000, seed: 7 },
    )
  })

  test('a missing key and a wrong one read differently', () => {
    const says = (headers: Record<string, string>): string => {
      try {
        authenticate(incomingOf(requestWith(headers)), snapshot, 'any', 0)
      } catch (error) {
        if (error instanceof GatewayError) return error.message
      }
      return ''
    }
    expect(says({})).toContain('Missing API key: send it in the header')
    expect(says({ authorization: `Bearer ${newKey('inference')}` })).toContain(
      'Invalid API key: this gateway has no',
    )
    expect(says({ 'x-api-key': newKey('inference') })).toContain('Invalid API key: this gateway has no')
    expect(says({ authorization: key })).toContain('must be "Bearer <key>"')
  })

  test('keys that cannot be are not looked up', () => {
    const looked: string[] = []
    const get = (hash: string) => {
      looked.push(hash)
      return undefined
    }
    const spied = { ...snapshot, keysByHash: { get, has: () => false, values: () => [] } }
    for (const token of ['short', `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`, 'x'.repeat(5000)]) {
      expect(() =>
        authenticate(incomingOf(requestWith({ authorization: `Bearer ${token}` })), spied, 'any', 0),
      ).toThrow()
    }
    expect(looked).toEqual([])
  })
})

describe('originOf', () => {
  const rows: [name: string, headers: Record<string, string>, expected: object][] = [
    ['nothing', {}, { httpReferer: '', title: '', origin: '', userAgent: '' }],
    [
      'HTTP-Referer and X-Title',
      { 'http-referer': 'https://app.example:8443/a?b', 'x-title': 'App', 'user-agent': 'x/1' },
      {
        httpReferer: 'https://app.example:8443/a?b',
        title: 'App',
        origin: 'https://app.example:8443',
        userAgent: 'x/1',
      },
    ],
    [
      'Referer',
      { referer: 'http://a.example/x' },
      { httpReferer: 'http://a.example/x', origin: 'http://a.example' },
    ],
    [
      'HTTP-Referer before Referer',
      { referer: 'http://a.example', 'http-referer': 'http://b.example' },
      { origin: 'http://b.example' },
    ],
    ['the other title', { 'x-openrouter-title': 'Other' }, { title: 'Other' }],
    ['a referer that is not an address', { 'http-referer': 'my app' }, { httpReferer: 'my app', origin: '' }],
    ['a referer of another scheme', { 'http-referer': 'javascript:alert(1)' }, { origin: '' }],
    ['blanks', { 'x-title': '   ', 'x-openrouter-title': 'Other' }, { title: 'Other' }],
  ]
  for (const [name, headers, expected] of rows) {
    test(name, () => {
      expect(originOf(incomingOf(requestWith(headers)))).toMatchObject(expected)
    })
  }

  test('is cut to what records can bear', () => {
    const long = `https://a.example/${'x'.repeat(9000)}`
    const origin = originOf(
      incomingOf(requestWith({ 'http-referer': long, 'x-title': long, 'user-agent': long })),
    )
    expect(origin.httpReferer.length).toBe(512)
    expect(origin.title.length).toBe(256)
    expect(origin.userAgent.length).toBe(512)
    expect(origin.origin).toBe('https://a.example')
  })
})

describe('compatibility', () => {
  const rows: [agent: string | undefined, status: 200 | 201][] = [
    [undefined, 200],
    ['curl/8', 200],
    ['speakeasy-sdk/typescript 1.3.19 2.755.9 1.0.0 @openrouter/sdk', 201],
    ['Mozilla speakeasy-sdk/', 200],
  ]
  for (const [agent, status] of rows) {
    test(`a creation by ${agent} is ${status}`, () => {
      expect(createdStatus(requestWith(agent === undefined ? {} : { 'user-agent': agent }))).toBe(status)
    })
  }
})
