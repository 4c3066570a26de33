import { describe, expect, test } from 'bun:test'
import { cancellationOf } from '../../src/core/cancellation.ts'
import { UpstreamError } from '../../src/core/errors.ts'
import { askForToken, createTokenSource } from '../../src/providers/token.ts'
import { freshToken, outboundAt, startTokenEndpoint, tokenEndpointOfFile } from './token-endpoint.ts'

const { endpoint, upstream } = tokenEndpointOfFile()

const MINUTE = 60_000
const START = 1_700_000_000_000
const form = { grant_type: 'client_credentials', client_secret: 'hunter2 & more' }

function start() {
  const clock = { now: START }
  const outbound = outboundAt(clock, upstream.send)
  let last: Promise<unknown> = Promise.resolve()
  const source = createTokenSource((out) => {
    const asking = askForToken(`${endpoint.url}/token`, form, out)
    last = asking.catch(() => undefined)
    return asking
  })
  /** Resolves when the current call has ended and its token is stored. */
  const settled = () => last.then(() => new Promise(setImmediate))
  return { clock, outbound, get: () => source.get(outbound), source, settled }
}
const asked = () => endpoint.seen.length
test('a token is requested once, as a form, and stored', async () => {
  const { get } = start()
  expect(await get()).toBe('token-1')
  expect(await get()).toBe('token-1')
  expect(endpoint.seen).toEqual([{ path: '/token', form }])
})

test('concurrent requests share one call', async () => {
  const { get } = start()
  expect(new Set(await Promise.all(Array.from({ length: 50 }, get)))).toEqual(new Set(['token-1']))
  expect(asked()).toBe(1)
})

test('before it expires it is renewed, while the old one is still used', async () => {
  const { clock, get, settled } = start()
  await get()
  clock.now += 54 * MINUTE
  expect(await get()).toBe('token-1')
  expect(asked()).toBe(1)
  clock.now += 2 * MINUTE
  expect(await Promise.all([get(), get()])).toEqual(['token-1', 'token-1'])
  await settled()
  expect(asked()).toBe(2)
  expect(await get()).toBe('token-2')
})

test('a failed renewal is retried after a pause, while the old token serves', async () => {
  const { clock, get, settled } = start()
  await get()
  endpoint.answer = () => new Response(null, { status: 503 })
  clock.now += 56 * MINUTE
  for (const step of [0, 1_000, 29_000]) {
    clock.now += step
    expect(await get()).toBe('token-1')
    await settled()
  }
  expect(asked()).toBe(3)
  endpoint.answer = freshToken
  clock.now += MINUTE
  await get()
  await settled()
  expect(await get()).toBe('token-4')
})

test('requests wait for the renewal of an expired one', async () => {
  const { clock, get } = start()
  await get()
  clock.now += 60 * MINUTE - 20_000
  expect(await get()).toBe('token-2')
})

test('a short-lived one is renewed at half its lifetime', async () => {
  endpoint.answer = (count) => Response.json({ access_token: `short-${count}`, expires_in: '120' })
  const { clock, get, settled } = start()
  await get()
  clock.now += 61_000
  expect(await get()).toBe('short-1')
  await settled()
  expect(await get()).toBe('short-2')
})

test('a rejected token is not sent again', async () => {
  const { get, source } = start()
  await get()
  source.forget()
  expect(await get()).toBe('token-2')
})

test('a client disconnect does not end the call of the others', async () => {
  const held = Promise.withResolvers<Response>()
  endpoint.answer = () => held.promise
  const { outbound, source } = start()
  const leaving = new AbortController()
  const left = source.get({ ...outbound, cancellation: cancellationOf(leaving.signal) })
  const stays = source.get(outbound)
  leaving.abort(new Error('gone'))
  expect(left).rejects.toThrow('gone')
  held.resolve(freshToken(1))
  expect(await stays).toBe('token-1')
  expect(asked()).toBe(1)
})

test('a failure reaches all waiting callers, and is not cached', async () => {
  const { get } = start()
  endpoint.answer = () => Response.json({ error: 'invalid_client' }, { status: 401 })
  const results = await Promise.allSettled([get(), get()])
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
  expect(asked()).toBe(1)
  endpoint.answer = freshToken
  expect(await get()).toBe('token-2')
})

describe('refusals', () => {
  const echo = 'hunter2 & more'
  const rows: [name: string, answer: () => Response, kind: string, code: string | null][] = [
    [
      'a wrong secret, with a sentence that repeats it',
      () => Response.json({ error: 'invalid_client', error_description: `no: ${echo}` }, { status: 401 }),
      'credential',
      'invalid_client',
    ],
    [
      "Entra's number",
      () =>
        Response.json(
          { error: 'unauthorized_client', error_description: `AADSTS700016: ${echo}` },
          { status: 400 },
        ),
      'credential',
      'AADSTS700016',
    ],
    ['an invalid code', () => Response.json({ error: `x ${echo}` }, { status: 400 }), 'credential', null],
    ['too many', () => new Response('slow down', { status: 429 }), 'rate-limit', null],
    ['broken', () => new Response(echo, { status: 500 }), 'server', null],
    ['a page', () => new Response('<html>'), 'malformed', null],
    ['no token', () => Response.json({ expires_in: 9 }), 'malformed', null],
    ['a token that is not a header', () => Response.json({ access_token: 'a\nb' }), 'malformed', null],
    ['a redirect', () => Response.redirect('http://127.0.0.1:9/'), 'connect', null],
  ]
  test.each(rows)('%s', async (_, answer, kind, code) => {
    endpoint.answer = answer
    const error = await start()
      .get()
      .catch((caught: unknown) => caught)
    if (!(error instanceof UpstreamError)) throw new Error(`no UpstreamError but ${String(error)}`)
    expect<string>(error.kind).toBe(kind)
    expect(error.code).toBe(code)
    expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toContain('hunter2')
  })

  test('no server', async () => {
    const closed = startTokenEndpoint()
    await closed.stop()
    const { outbound } = start()
    const error = await askForToken(closed.url, form, outbound).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ kind: 'connect' })
  })
})
