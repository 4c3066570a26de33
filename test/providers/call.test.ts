import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../src/core/errors.ts'
import type { ProviderRecord } from '../../src/core/snapshot.ts'
import { demoProvider } from '../../src/providers/demo.ts'
import { addressOf, compatible } from '../../src/providers/provider.ts'
import { defaults } from './defaults.ts'

const BASE = 'https://api.example.com/v1'

describe('an address', () => {
  test.each([
    ['/chat/completions', `${BASE}/chat/completions`],
    [
      '/models/gemini-2.5-pro:streamGenerateContent?alt=sse',
      `${BASE}/models/gemini-2.5-pro:streamGenerateContent?alt=sse`,
    ],
    ['/model/anthropic.claude-v1%3A0/converse', `${BASE}/model/anthropic.claude-v1%3A0/converse`],
    ['/models/claude@20250101', `${BASE}/models/claude@20250101`],
    ['/models/a..b', `${BASE}/models/a..b`],
  ])('appends %s', (path, expected) => {
    expect(addressOf(BASE, path)).toBe(expected)
    expect(new URL(expected).href).toBe(expected)
  })

  test.each([
    ['@evil.example/x'],
    ['.evil.example'],
    [':8080/x'],
    ['//evil.example/x'],
    ['/..'],
    ['/../admin'],
    ['/models/../../x'],
    ['/models/..'],
    ['/models/%2e%2e/x'],
    ['/models/.%2E/x'],
    ['/models/./x'],
    ['/models/x#frag'],
    ['/models/a b'],
    ['/models\\..\\x'],
    ['/models/x\n'],
    ['/models/\u0000'],
    ['/models/é'],
    ['/%'.replace('%', '\t')],
    [''],
    ['/x?a=1#b'],
    ['https://evil.example/'],
  ])('refuses %j', (path) => {
    try {
      addressOf(BASE, path)
      expect.unreachable()
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError)
      expect(error instanceof GatewayError && error.status).toBe(400)
    }
  })

  test('every accepted path stays on the host and below the base path', () => {
    const pieces = [
      '/',
      '..',
      '.',
      '@',
      ':',
      '#',
      '?',
      '%2e',
      '%2F',
      '\\',
      'a',
      'evil.example',
      ' ',
      ';',
      '&',
      '=',
      '//',
    ]
    let state = 7
    const next = (below: number): number => {
      state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0
      return Math.floor((state / 4_294_967_296) * below)
    }
    let accepted = 0
    for (let round = 0; round < 20_000; round += 1) {
      const path = Array.from({ length: 1 + next(6) }, () => pieces[next(pieces.length)]).join('')
      let url: string
      try {
        url = addressOf(BASE, path)
      } catch {
        continue
      }
      accepted += 1
      const parsed = new URL(url)
      expect(parsed.origin).toBe('https://api.example.com')
      expect(parsed.pathname.startsWith('/v1/')).toBe(true)
      expect(parsed.hash).toBe('')
    }
    expect(accepted).toBeGreaterThan(200)
  })
})

describe('headers', () => {
  const provider: ProviderRecord = { ...demoProvider(defaults), baseUrl: BASE, kind: 'compatible' }
  const call = {
    path: '/chat/completions',
    headers: { 'X-Beta': '1', Authorization: 'caller' },
    body: { a: 'ü' },
  }

  test('a keyless server gets no credential', async () => {
    const prepared = await compatible.prepare(
      provider,
      { id: 'none', secret: null },
      { ...call, headers: {} },
    )
    expect(prepared.headers).toEqual({ 'content-type': 'application/json' })
    expect(prepared.body).toBe('{"a":"ü"}')
  })

  test('the credential replaces earlier headers, in lower case', async () => {
    const prepared = await compatible.prepare(provider, { id: 'key', secret: 's1' }, call)
    expect(prepared.headers).toEqual({
      'content-type': 'application/json',
      'x-beta': '1',
      authorization: 'Bearer s1',
    })
  })

  test("a provider's own header and credential header", async () => {
    const own = {
      ...provider,
      headers: { 'X-Region': 'eu' },
      credentialHeader: { name: 'Api-Key', prefix: '' },
    }
    const prepared = await compatible.prepare(own, { id: 'key', secret: 's1' }, { ...call, headers: {} })
    expect(prepared.headers).toEqual({
      'content-type': 'application/json',
      'x-region': 'eu',
      'api-key': 's1',
    })
  })
})
