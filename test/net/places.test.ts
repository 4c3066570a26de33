import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { cancellationOf } from '../../src/core/cancellation.ts'
import { createUpstream } from '../../src/net/client.ts'
import type { SendOptions, Upstream } from '../../src/net/upstream.ts'
import { CHUNKED_HEAD, chunk, LAST_CHUNK, reply, type ScriptedServer, scriptedServer } from './scripted.ts'
import { failureOf, outcomeOf, PATIENT, send } from './send.ts'

const FULL = { kind: 'capacity', status: null, retryAfterMs: 1000 }

/** An answer whose body ends on request. */
function held() {
  const release = Promise.withResolvers<void>()
  const answer: SendOptions['answer'] = async () =>
    new Response(
      new ReadableStream<Uint8Array>({
        async pull(controller) {
          await release.promise
          controller.close()
        },
      }),
    )
  return { answer, release: release.resolve }
}

const inside = (upstream: Upstream, options: Partial<SendOptions>) =>
  send(upstream, 'http://inside.invalid/', options)

describe('places', () => {
  test('of a group are bounded, and another group has its own', async () => {
    const upstream = createUpstream()
    const { answer, release } = held()
    const a = { group: 'a', maxInFlight: 2, answer }
    const open = [outcomeOf(inside(upstream, a)), outcomeOf(inside(upstream, a))]
    expect(await failureOf(inside(upstream, a))).toMatchObject(FULL)
    open.push(outcomeOf(inside(upstream, { ...a, group: 'b' })))
    expect(upstream.inFlight()).toBe(3)
    release()
    for (const { error } of await Promise.all(open)) expect(error).toBeNull()
    expect(upstream.inFlight()).toBe(0)
    expect((await outcomeOf(inside(upstream, a))).error).toBeNull()
  })

  test('of all groups together are bounded', async () => {
    const upstream = createUpstream({ maxInFlight: 3 })
    const { answer, release } = held()
    const open = ['a', 'b', 'c'].map((group) => outcomeOf(inside(upstream, { group, answer })))
    expect(await failureOf(inside(upstream, { group: 'd', answer }))).toMatchObject(FULL)
    release()
    await Promise.all(open)
    expect((await outcomeOf(inside(upstream, { group: 'd', answer }))).error).toBeNull()
  })

  test('are held until the body ends, not until the headers', async () => {
    const upstream = createUpstream()
    const { answer, release } = held()
    const answered = await inside(upstream, { maxInFlight: 1, answer })
    expect(await failureOf(inside(upstream, { maxInFlight: 1, answer }))).toMatchObject(FULL)
    release()
    await answered.text()
    expect((await outcomeOf(inside(upstream, { maxInFlight: 1, answer }))).error).toBeNull()
  })
})

/** One server; the path selects its behaviour. */
const BEHAVIOURS: Record<string, string | null> = {
  whole: reply('hello'),
  streamed: CHUNKED_HEAD + chunk('hel') + chunk('lo') + LAST_CHUNK,
  error: reply('{}', '503 Busy'),
  redirect: reply('', '302 Found', 'location: /\r\n'),
  empty: 'HTTP/1.1 204 No Content\r\n\r\n',
  cut: null,
  'cut-body': CHUNKED_HEAD + chunk('hello'),
  'bad-chunk': `${CHUNKED_HEAD}ZZ\r\n`,
  silent: '',
  headers: CHUNKED_HEAD,
  stalled: CHUNKED_HEAD + chunk('hello'),
  garbage: 'HELLO\r\n\r\n',
}
const CLOSES_AFTER = new Set(['cut', 'cut-body'])

const USES = [
  'read',
  'text',
  'short-text',
  'leave',
  'ignore',
  'abort-at-once',
  'abort-later',
  'abort-in-body',
] as const
type Use = (typeof USES)[number]

async function use(upstream: Upstream, url: string, how: Use): Promise<void> {
  const controller = new AbortController()
  const timeouts = { firstByteMs: 50, betweenBytesMs: 50, totalMs: 500 }
  const call = send(upstream, url, {
    cancellation: cancellationOf(controller.signal),
    timeouts,
    group: how,
    maxInFlight: 20,
  })
  if (how === 'abort-at-once') controller.abort()
  if (how === 'abort-later') setImmediate(() => controller.abort())
  const answer = await call
  if (how === 'ignore') return
  if (how === 'text') await answer.text()
  if (how === 'short-text') await answer.text(2)
  for await (const _ of answer.bytes) {
    if (how === 'leave') return
    if (how === 'abort-in-body') controller.abort()
  }
}

describe('no place is ever lost', () => {
  let server: ScriptedServer
  beforeAll(async () => {
    server = await scriptedServer((socket, index) => {
      const behaviour = /^POST \/(\S+)/.exec(server.requests[index] ?? '')?.[1] ?? 'cut'
      const bytes = BEHAVIOURS[behaviour] ?? ''
      if (CLOSES_AFTER.has(behaviour)) socket.end(bytes)
      else socket.write(bytes)
    })
  })
  afterAll(() => server.stop())

  const calls = fc.array(
    fc.record({ behaviour: fc.constantFrom(...Object.keys(BEHAVIOURS)), how: fc.constantFrom(...USES) }),
    { minLength: 1, maxLength: 40 },
  )

  test('whatever servers and consumers do', async () => {
    const upstream = createUpstream({ maxInFlight: 40 })
    await fc.assert(
      fc.asyncProperty(calls, async (batch) => {
        await Promise.allSettled(
          batch.map(({ behaviour, how }) => use(upstream, `${server.url}/${behaviour}`, how)),
        )
        // Only bodies without a reader are still open, until their clock ends.
        while (upstream.inFlight() > 0) await Bun.sleep(5)
        const { answer, release } = held()
        const again = Array.from({ length: 40 }, () =>
          outcomeOf(inside(upstream, { answer, timeouts: PATIENT })),
        )
        expect(upstream.inFlight()).toBe(40)
        release()
        for (const { error } of await Promise.all(again)) expect(error).toBeNull()
      }),
      { numRuns: 25, seed: 20261120 },
    )
  })

  test('every behaviour with every use', async () => {
    const upstream = createUpstream()
    const pairs = Object.keys(BEHAVIOURS).flatMap((behaviour) => USES.map((how) => ({ behaviour, how })))
    await Promise.allSettled(
      pairs.map(({ behaviour, how }) => use(upstream, `${server.url}/${behaviour}`, how)),
    )
    while (upstream.inFlight() > 0) await Bun.sleep(5)
    expect(upstream.inFlight()).toBe(0)
  })
})
