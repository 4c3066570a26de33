import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MODELS, requestBody, streamEvents, unaryBody } from '../../bench/answers.ts'
import { startBareProxy } from '../../bench/bare-proxy.ts'
import { type LoadSpec, runLoad } from '../../bench/load.ts'
import { startMockUpstream } from '../../bench/mock-upstream.ts'

const mock = startMockUpstream()
const proxy = startBareProxy(`http://127.0.0.1:${mock.port}`)
afterAll(async () => {
  mock.stop(true)
  await proxy.stop(true)
})

/** Every connection asks once: no clock decides what is counted. */
function once(port: number | undefined, changes: Partial<LoadSpec> = {}): LoadSpec {
  const { kind = 'unary' } = changes
  return {
    port: port ?? 0,
    path: '/v1/chat/completions',
    kind,
    body: requestBody(kind === 'unary' ? MODELS.burst : MODELS.steps, kind),
    keys: [],
    concurrency: 20,
    warmupMs: 0,
    durationMs: 0,
    pid: null,
    ...changes,
  }
}

const right = [
  { name: 'unary', changes: {} },
  { name: 'a stream in one write', changes: { kind: 'stream', body: requestBody(MODELS.burst, 'stream') } },
  { name: 'a stream of many writes', changes: { kind: 'stream' } },
] satisfies { name: string; changes: Partial<LoadSpec> }[]

describe('a right answer is counted', () => {
  for (const { name, changes } of right) {
    test(`${name}, direct and through the bare proxy`, async () => {
      for (const port of [mock.port, proxy.port]) {
        const result = await runLoad(once(port, changes))
        expect(result).toMatchObject({ completed: 20, measured: 20, errors: 0, faults: [] })
        expect(result.p99Ms).toBeGreaterThanOrEqual(result.p50Ms)
        expect(result.p50Ms).toBeGreaterThan(0)
      }
    })
  }

  test('again and again on one connection while the time lasts', async () => {
    const result = await runLoad(once(mock.port, { concurrency: 1, durationMs: 50 }))
    expect(result.errors).toBe(0)
    expect(result.completed).toBeGreaterThan(1)
  })
})

describe('a wrong answer is an error', () => {
  const events = streamEvents(MODELS.steps)
  const json = unaryBody(MODELS.burst)
  const cases = [
    { name: 'an error status', kind: 'unary', status: 503, body: json },
    { name: 'an error in a 200', kind: 'unary', status: 200, body: '{"error":{"message":"no"}}' },
    { name: 'a text that is too short', kind: 'unary', status: 200, body: json.replace(' benchmark', '') },
    { name: 'JSON that is cut', kind: 'unary', status: 200, body: json.slice(0, -1) },
    { name: 'no terminal marker', kind: 'stream', status: 200, body: events.slice(0, -1).join('') },
    { name: 'a chunk lost', kind: 'stream', status: 200, body: events.toSpliced(3, 1).join('') },
    {
      name: 'a chunk twice',
      kind: 'stream',
      status: 200,
      body: events.toSpliced(3, 0, events[3] ?? '').join(''),
    },
    { name: 'no usage', kind: 'stream', status: 200, body: events.toSpliced(-2, 1).join('') },
  ] satisfies { name: string; kind: LoadSpec['kind']; status: number; body: string }[]
  let answer = { status: 200, body: '' }
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: () => new Response(answer.body, { status: answer.status }),
  })
  afterAll(() => server.stop(true))

  for (const { name, kind, status, body } of cases) {
    test(name, async () => {
      answer = { status, body }
      const result = await runLoad(once(server.port, { kind, concurrency: 3 }))
      expect(result).toMatchObject({ completed: 0, measured: 0, errors: 3 })
      expect(result.faults.length).toBeGreaterThan(0)
    })
  }
})

describe('a connection that breaks is an error', () => {
  let port = 0
  const rude = Bun.listen({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      data(socket) {
        socket.end('HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{"choices":')
      },
    },
  })
  beforeAll(() => {
    port = rude.port
  })
  afterAll(() => rude.stop(true))

  test('in the middle of an answer', async () => {
    const result = await runLoad(once(port, { concurrency: 2 }))
    expect(result).toMatchObject({ completed: 0, errors: 2 })
    expect(result.faults).toEqual(['the connection was closed before the end of the answer'])
  })
})
