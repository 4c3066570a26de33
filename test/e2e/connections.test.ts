import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForReading } from '../../src/db/database.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { BOOTSTRAP, type Served, startServer } from '../cli/process.ts'
import { chunk, type FakeUpstream, frames, paced, startUpstream, unary } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

const KEY = BOOTSTRAP.SLUICE_API_KEY
let upstream: FakeUpstream
let other: FakeUpstream
let folder: string
let server: Served

const entry = (slug: string, baseUrl: string, models: string[]) => ({
  slug,
  dialect: 'chat',
  base_url: baseUrl,
  models: models.map((id) => ({ id, pricing: { prompt: '0.000001', completion: '0.000002' } })),
})

beforeAll(async () => {
  upstream = startUpstream()
  other = startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'sluice-connections-'))
  const providers = [
    entry('lab', upstream.baseUrl, ['tiny', 'large', 'stalls']),
    entry('other', other.baseUrl, ['quick']),
  ]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ providers }))
  server = await startServer(join(folder, 'data'), { cwd: folder, env: BOOTSTRAP })
})
afterAll(async () => {
  expect(await server.stop()).toBe(0)
  expect(verifyFolder(join(folder, 'data')).differences).toEqual([])
  await Promise.all([upstream.stop(), other.stop()])
  removeVerified(folder)
})

const post = (body: Record<string, unknown>, signal?: AbortSignal) =>
  fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Hello' }], ...body }),
    ...(signal ? { signal } : {}),
  })

/** The row of a generation, as soon as it is there. */
async function rowOf(id: string | null): Promise<Record<string, unknown>> {
  const database = openForReading(join(folder, 'data', 'sluice.db'))
  try {
    for (let i = 0; i < 400; i++) {
      const row = database.file
        .query<Record<string, unknown>, [string]>('SELECT * FROM generations WHERE id = ?')
        .get(id ?? '')
      if (row) return row
      await Bun.sleep(5)
    }
  } finally {
    database.close()
  }
  throw new Error(`${id} was not settled`)
}

const rssMegabytes = (): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, 'utf8'))?.[1] ?? 0) / 1024

/** Sends a request for a stream on a socket of its own. */
function send(model: string): Promise<Socket> {
  const { hostname, port } = new URL(server.url)
  const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'x' }] })
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname, () => {
      socket.pause()
      socket.write(
        `POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${KEY}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        () => resolve(socket),
      )
    })
    socket.on('error', reject)
  })
}

/** Until the first bytes of the reply are there: its status line. */
const statusLine = (socket: Socket): Promise<string> =>
  new Promise((resolve) => {
    socket.once('data', (data) => resolve(data.toString('latin1').split('\r\n')[0] ?? ''))
    socket.resume()
  })

describe('a caller that hangs up', () => {
  test('in mid-stream closes the upstream within 200 ms and is charged for what was delivered', async () => {
    const cancelled = Promise.withResolvers<number>()
    upstream.on('tiny', () =>
      paced(frames(['Hello', ' world']).slice(0, 3), 'hang', undefined, () =>
        cancelled.resolve(performance.now()),
      ),
    )
    const leaving = new AbortController()
    const response = await post({ model: 'tiny', stream: true }, leaving.signal)
    const reader = response.body?.getReader()
    await reader?.read()
    const leftAt = performance.now()
    leaving.abort()
    expect((await cancelled.promise) - leftAt).toBeLessThan(200)
    const row = await rowOf(response.headers.get('x-generation-id'))
    expect(row).toMatchObject({ cancelled: 1, usage_source: 'estimated', finish_reason: 'error' })
    expect(row['cost_nano_usd']).toBeGreaterThan(0)
  })

  test('before a unary answer closes the upstream too', async () => {
    const cancelled = Promise.withResolvers<void>()
    const arrived = Promise.withResolvers<void>()
    upstream.on('tiny', (_, request) => {
      request.signal.addEventListener('abort', () => cancelled.resolve())
      arrived.resolve()
      return new Promise<Response>(() => undefined)
    })
    const leaving = new AbortController()
    const reply = post({ model: 'tiny' }, leaving.signal).catch((error: unknown) => error)
    await arrived.promise
    const leftAt = performance.now()
    leaving.abort()
    await cancelled.promise
    expect(performance.now() - leftAt).toBeLessThan(200)
    expect(await reply).toBeInstanceOf(Error)
  })
})

test('100 callers that never read a 4 MB stream cost less than 200 MB together', async () => {
  const piece = chunk({ content: 'x'.repeat(16_000) })
  let sentBytes = 0
  upstream.on('large', () =>
    paced(
      Array.from({ length: 256 }, () => piece),
      'hang',
      async () => {
        sentBytes += piece.length
      },
    ),
  )
  const before = rssMegabytes()
  const sockets = await Promise.all(Array.from({ length: 100 }, () => send('large')))
  for (let last = -1; last !== sentBytes || last === 0; ) {
    last = sentBytes
    await Bun.sleep(200)
  }
  // What passed through on the way is garbage that is collected soon; what stays is the cost.
  const deadline = performance.now() + 15_000
  while (rssMegabytes() - before >= 200 && performance.now() < deadline) await Bun.sleep(100)
  expect(rssMegabytes() - before).toBeLessThan(200)
  for (const socket of sockets) socket.destroy()
}, 60_000)

test('a provider that stalls with 600 open streams does not slow another one', async () => {
  upstream.on('stalls', () => paced([chunk({ role: 'assistant', content: 'x' })], 'hang'))
  other.on('quick', unary('quick'))
  const sockets = await Promise.all(Array.from({ length: 600 }, () => send('stalls')))
  const statuses = await Promise.all(sockets.map(statusLine))
  expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 200 OK']))
  const startedAt = performance.now()
  const replies = await Promise.all(Array.from({ length: 20 }, () => post({ model: 'quick' })))
  expect(replies.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect(performance.now() - startedAt).toBeLessThan(2_000)
  for (const socket of sockets) socket.destroy()
}, 60_000)

describe('SIGTERM', () => {
  const started = async (grace: string) => {
    const data = join(folder, `drain-${grace}`)
    return {
      data,
      own: await startServer(data, { cwd: folder, env: { ...BOOTSTRAP, SLUICE_SHUTDOWN_GRACE_MS: grace } }),
    }
  }
  const open = (url: string, model: string) =>
    fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'Hello' }] }),
    })

  test('a running stream finishes within the grace; new requests are refused; exit 0', async () => {
    const { data, own } = await started('20000')
    const gate = Promise.withResolvers<void>()
    let sent = 0
    upstream.on('tiny', () =>
      paced(frames(['Hello', ' world']), 'close', () => (sent++ < 2 ? Promise.resolve() : gate.promise)),
    )
    const reply = await open(own.url, 'tiny')
    own.kill('SIGTERM')
    let ready = 200
    while (ready !== 503) ready = (await fetch(`${own.url}/health/ready`)).status
    expect((await open(own.url, 'tiny')).status).toBe(503)
    gate.resolve()
    expect(await reply.text()).toContain('data: [DONE]')
    expect(await own.exited).toBe(0)
    expect(verifyFolder(data)).toMatchObject({ differences: [], generations: 1 })
  }, 30_000)

  test('what does not finish gets an error event, is settled, and the exit is 0', async () => {
    const { data, own } = await started('50')
    upstream.on('tiny', () => paced(frames(['Hello', ' world']).slice(0, 3), 'hang'))
    const reply = await open(own.url, 'tiny')
    own.kill('SIGTERM')
    const text = await reply.text()
    expect(text).not.toContain('[DONE]')
    expect(text).toContain('"error":{"code":503')
    expect(await own.exited).toBe(0)
    expect(verifyFolder(data)).toMatchObject({ differences: [], generations: 1 })
  }, 30_000)

  test('a second one is immediate', async () => {
    const { own } = await started('60000')
    upstream.on('tiny', () => paced(frames(['Hello']).slice(0, 2), 'hang'))
    const reply = await open(own.url, 'tiny')
    own.kill('SIGTERM')
    while ((await fetch(`${own.url}/health/ready`)).status !== 503) await Bun.sleep(5)
    own.kill('SIGTERM')
    expect(await own.exited).not.toBe(0)
    await reply.text().catch(() => '')
  }, 30_000)

  test('a Ctrl-C that `npx` or `bun run` passes on besides is one: what runs may finish', async () => {
    const { data, own } = await started('20001')
    const gate = Promise.withResolvers<void>()
    let sent = 0
    upstream.on('tiny', () =>
      paced(frames(['Hello', ' world']), 'close', () => (sent++ < 2 ? Promise.resolve() : gate.promise)),
    )
    const reply = await open(own.url, 'tiny')
    for (let n = 0; n < 3; n++) {
      own.kill('SIGINT')
      await Bun.sleep(2)
    }
    while ((await fetch(`${own.url}/health/ready`)).status !== 503) await Bun.sleep(5)
    gate.resolve()
    expect(await reply.text()).toContain('data: [DONE]')
    expect(await own.exited).toBe(0)
    expect(verifyFolder(data)).toMatchObject({ differences: [], generations: 1 })
  }, 30_000)

  test.each([
    ['SIGTERM', 'SIGINT', 0, '60001'],
    ['SIGINT', 'SIGTERM', 0, '60002'],
    ['SIGINT', 'SIGINT', 150, '60003'],
  ] as const)(
    '%s and then %s after %d ms: the second one is immediate',
    async (first, second, wait, grace) => {
      const { own } = await started(grace)
      upstream.on('tiny', () => paced(frames(['Hello']).slice(0, 2), 'hang'))
      const reply = await open(own.url, 'tiny')
      own.kill(first)
      while ((await fetch(`${own.url}/health/ready`)).status !== 503) await Bun.sleep(5)
      await Bun.sleep(wait)
      own.kill(second)
      expect(await Promise.race([own.exited, Bun.sleep(5_000)])).toBe(1)
      await reply.text().catch(() => '')
    },
    30_000,
  )
})
