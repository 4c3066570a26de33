import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { forbidden } from '../../../src/core/errors.ts'
import { newConversation } from '../../../src/core/request.ts'
import { turnOfLoop } from '../../../src/core/turn.ts'
import type { Plugin } from '../../../src/plugins/plugin.ts'
import { labOf, whilePassing } from '../../file-setup.ts'
import { type Gateway, startGateway } from '../../gateway.ts'
import { CALLERS, type DialectCaller } from '../../plugins/callers.ts'
import { startUpstream, streamed, unary } from '../../upstream.ts'

/** What a caller hears while the plugins of its request run. The clock is ours: it is moved, not waited for. */

const upstream = startUpstream()
let now = Date.UTC(2026, 0, 1)
const gateway: Gateway = await startGateway({
  listens: true,
  now: () => now,
  providers: [labOf(upstream, ['chat', 'other'])],
})
const { run, bodies } = gateway.deps
afterAll(async () => {
  await gateway.stop()
  await upstream.stop()
})

type Hook = NonNullable<Plugin['request']>
const install = (...hooks: Hook[]) => {
  const plugins = hooks.map((request, i): Plugin => {
    const id = `plugin-${i}`
    return { id, implied: () => ({ id }), request }
  })
  Object.assign(run, { plugins })
}

let gate = Promise.withResolvers<void>()
beforeEach(() => {
  now += 3_600_000
  gate = Promise.withResolvers<void>()
  waited = false
  upstream.on('chat', streamed(['Hello']))
  upstream.on('other', unary('A draft'))
})
let waited = false
const waiting: Hook = async (request) => {
  waited = true
  await gate.promise
  return request
}
const refusing: Hook = async () => {
  await gate.promise
  throw forbidden('Not that')
}

const [CHAT = never()] = CALLERS
function never(): never {
  throw new Error('no callers')
}
const ask = (caller: DialectCaller, signal = new AbortController().signal) => {
  const { path, body } = caller.ask('chat', 'Hello', true)
  return gateway.abortable(path, body, {}, signal)
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await turnOfLoop()
}

const readerOf = (response: Response): ReadableStreamDefaultReader<Uint8Array> => {
  if (!response.body) throw new Error('the reply has no body')
  return response.body.getReader()
}

/** The text until then, or to the end. */
async function readUntil(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  isEnough: (text: string) => boolean,
): Promise<string> {
  const decoder = new TextDecoder()
  let text = ''
  while (!isEnough(text)) {
    const { value, done } = await reader.read()
    if (done) return text
    text += decoder.decode(value, { stream: true })
  }
  return text
}

const whileTimePasses = <T>(wanted: Promise<T>): Promise<T> =>
  whilePassing(() => {
    now += 1_000
  }, wanted)

const KEEP_ALIVE: Record<string, string> = { gemini: '\n\n' }
const keepAliveOf = ({ dialect }: DialectCaller): string => KEEP_ALIVE[dialect] ?? ': SLUICE PROCESSING\n\n'

describe.each(CALLERS.map((caller) => [caller.dialect, caller] as const))('a stream of %s', (_, caller) => {
  test('is kept alive while a plugin works, and then answered', async () => {
    install(waiting)
    const response = await whileTimePasses(ask(caller))
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const id = response.headers.get('x-generation-id')
    const reader = readerOf(response)
    const twice = keepAliveOf(caller).repeat(2)
    expect(await whileTimePasses(readUntil(reader, (text) => text.includes(twice)))).toStartWith(twice)
    expect(bodies.heldBytes).toBeGreaterThan(0)
    gate.resolve()
    const text = await readUntil(reader, () => false)
    expect(text).toContain('Hello')
    expect(gateway.generations().at(-1)).toMatchObject({ id, finish_reason: 'stop' })
    expect(bodies.heldBytes).toBe(0)
  })

  test('ends with the error of its plugin after a keep-alive', async () => {
    install(refusing)
    const response = await whileTimePasses(ask(caller))
    expect(response.status).toBe(200)
    gate.resolve()
    const text = await response.text()
    expect(text).toStartWith(keepAliveOf(caller))
    expect(text).toMatch(/data: .*Not that/)
    expect(text).not.toContain('Hello')
    expect(bodies.heldBytes).toBe(0)
  })

  test('has the status of an error of the first five seconds', async () => {
    install(refusing)
    gate.resolve()
    const response = await ask(caller)
    expect([response.status, response.headers.get('content-type')]).toEqual([
      403,
      expect.stringContaining('json'),
    ])
    expect(bodies.heldBytes).toBe(0)
  })
})

test('the five seconds are those of the plugins and the provider together', async () => {
  install(waiting)
  const provider = Promise.withResolvers<void>()
  const asked = Promise.withResolvers<void>()
  upstream.on('chat', async () => {
    asked.resolve()
    await provider.promise
    return Response.json({ error: { message: 'no' } }, { status: 400 })
  })
  const asking = ask(CHAT)
  await until(() => waited)
  now += 4_000
  gate.resolve()
  await asked.promise
  now += 1_000
  const response = await asking
  provider.resolve()
  expect(response.status).toBe(200)
  expect(await response.text()).toStartWith(': SLUICE PROCESSING')
})

describe('a client that disconnects', () => {
  test.each([false, true])('ends the plugins and their steps (after a keep-alive: %p)', async (isLate) => {
    const started = Promise.withResolvers<AbortSignal>()
    let hasRunNext = false
    install(
      async (request, _, { signal, ask: askModel }) => {
        started.resolve(signal)
        await askModel(newConversation({ models: ['other'], messages: request.messages }), { kind: 'panel' })
        return request
      },
      (request) => {
        hasRunNext = true
        return request
      },
    )
    const left = Promise.withResolvers<void>()
    upstream.on('other', async (_, request) => {
      request.signal.addEventListener('abort', () => left.resolve())
      await left.promise
      return Response.json({})
    })
    const leaving = new AbortController()
    const asking = ask(CHAT, leaving.signal)
    asking.catch(() => undefined)
    const signal = await started.promise
    if (isLate) await whileTimePasses(asking)
    leaving.abort()
    await new Promise<void>((resolve) => {
      if (signal.aborted) resolve()
      else signal.addEventListener('abort', () => resolve())
    })
    await until(() => bodies.heldBytes === 0 && gateway.deps.ledger.heldNanoUsd() === 0)
    expect(hasRunNext).toBe(false)
    expect(gateway.generations().at(-1)).toMatchObject({ model: 'other', cancelled: 1 })
  })
})
