import { afterEach, beforeEach, expect, test } from 'bun:test'
import { labOf } from '../file-setup.ts'
import { fill, makeRoom } from '../full-disk.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { type FakeUpstream, frames, sse, startUpstream, unary } from '../upstream.ts'

const NOW = Date.UTC(2026, 2, 11, 12)

let upstream: FakeUpstream
let gateway: Gateway
let log: Record<string, unknown>[]
let hasDiskSpace: boolean

beforeEach(async () => {
  upstream = startUpstream()
  log = []
  hasDiskSpace = true
  gateway = await startGateway({
    now: () => NOW,
    listens: true,
    log: (line) => log.push(JSON.parse(line)),
    hasDiskSpace: () => hasDiskSpace,
    providers: [
      labOf(upstream, [{ id: 'cent', pricing: { prompt: '0', completion: '0', request: '0.01' } }]),
    ],
  })
})
afterEach(async () => {
  await gateway.stop()
  await upstream.stop()
})

const ask = { model: 'cent', messages: [{ role: 'user', content: 'Hello' }], max_tokens: 5 }
const logged = (level: number, words: string): number =>
  log.filter((line) => Number(line['level']) >= level && String(line['msg']).includes(words)).length

interface Waiting {
  /** What has arrived of it. */
  soFar(): string
  /** All of it, once it has ended. */
  readonly whole: Promise<{ status: number; text: string }>
}

/** Requests one after the other until one is answered and cannot be settled: that one waits. */
async function untilFull(body: object): Promise<Waiting> {
  for (;;) {
    let text = ''
    let isDone = false
    const read = async (): Promise<{ status: number; text: string }> => {
      const reply = await gateway.call('/chat/completions', body)
      const decoder = new TextDecoder()
      for await (const piece of reply.body ?? []) text += decoder.decode(piece, { stream: true })
      isDone = true
      return { status: reply.status, text }
    }
    const whole = read()
    while (!isDone && gateway.deps.ledger.isWritable()) await new Promise(setImmediate)
    if (!isDone) return { soFar: () => text, whole }
    expect((await whole).status).toBe(200)
  }
}

const reads: readonly [path: string, isManaged: boolean][] = [
  ['/models', false],
  ['/key', false],
  ['/files', false],
  ['/keys', true],
  ['/workspaces', true],
  ['/activity', true],
  ['/credits', true],
  ['/audit-log', true],
  ['/guardrails', true],
  ['/providers/configured', true],
]

const billable: readonly [path: string, body: object][] = [
  ['/chat/completions', ask],
  ['/chat/completions', { ...ask, stream: true }],
  ['/messages', ask],
  ['/responses', { model: 'cent', input: 'Hi', max_output_tokens: 16 }],
  ['/responses', { model: 'cent', input: 'Hi', store: true, stream: true }],
  ['/responses', { model: 'cent', input: 'Hi', background: true }],
  ['/embeddings', { model: 'cent', input: 'Hi' }],
]

const health = async (): Promise<unknown[]> => {
  const reply = await fetch(`${gateway.url}/health/ready`)
  return [reply.status, await reply.json()]
}

async function refuses(path: string, body: object, why: string): Promise<void> {
  const reply = await gateway.call(path, body)
  const { error } = await reply.json()
  expect([path, reply.status, error.message]).toEqual([path, 503, expect.stringContaining(why)])
  expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
}

for (const stream of [false, true]) {
  test(`a full ledger: ${stream ? 'a stream' : 'a reply'} waits, reads answer, new work is refused; then it goes on by itself`, async () => {
    upstream.on('cent', stream ? () => sse(frames(['Hel', 'lo'])) : unary('Hello'))
    const first = await gateway.call('/chat/completions', ask)
    const firstId = first.headers.get('x-generation-id')
    await first.text()
    fill(gateway.database)
    const waiting = await untilFull({ ...ask, stream })
    const asked = upstream.seen.length

    for (const [path, isManaged] of reads) {
      const reply = await (isManaged ? gateway.manage('GET', path) : gateway.call(path))
      expect([path, reply.status]).toEqual([path, 200])
      await reply.text()
    }
    expect((await gateway.call(`/generation?id=${firstId}`)).status).toBe(200)
    for (const [path, body] of billable)
      await refuses(path, body, 'The ledger cannot be written at the moment')
    expect(upstream.seen.length).toBe(asked)
    expect(await health()).toMatchObject([503, { status: 'not ready', reasons: [{ reason: 'ledger' }] }])
    expect((await fetch(`${gateway.url}/health/live`)).status).toBe(200)
    expect(logged(50, 'the ledger cannot be written')).toBe(1)
    expect(logged(0, 'can be written again')).toBe(0)

    makeRoom(gateway.database)
    const { status, text } = await waiting.whole
    expect([status, text.includes('[DONE]')]).toEqual([200, stream])
    expect(stream ? text : JSON.parse(text).choices[0].message.content).toContain(stream ? '"Hel"' : 'Hello')
    expect(await health()).toEqual([200, { status: 'ready' }])
    upstream.on('cent', unary('Hello'))
    expect((await gateway.call('/chat/completions', ask)).status).toBe(200)
    // Each that was asked is there once, and cost a cent. `stop` verifies the sums.
    const rows = gateway.generations()
    expect(rows.length).toBe(asked + 1)
    expect(rows.map((row) => row['cost_nano_usd'])).toEqual(rows.map(() => 10_000_000))
    expect(logged(50, 'the ledger cannot be written')).toBe(1)
    expect(logged(40, 'can be written again')).toBe(1)
  })
}

test('a stream whose settlement waits says all but its end, and then its end', async () => {
  upstream.on('cent', () => sse(frames(['Hello'])))
  fill(gateway.database)
  const { soFar, whole } = await untilFull({ ...ask, stream: true })
  while (!soFar().includes('Hello')) await new Promise(setImmediate)
  expect(soFar()).not.toContain('[DONE]')
  expect(soFar()).not.toContain('"usage"')
  makeRoom(gateway.database)
  const { text } = await whole
  expect(text.startsWith(soFar())).toBe(true)
  expect(text.trimEnd().endsWith('data: [DONE]')).toBe(true)
})

test('changes of administration are refused with a 503, whole, and nothing of them stays', async () => {
  fill(gateway.database)
  const names = ['first']
  let refused: Response | null = null
  for (let n = 0; refused === null; n++) {
    const name = `key ${n} ${'x'.repeat(200)}`
    const reply = await gateway.manage('POST', '/keys', { name })
    if (reply.status === 200) names.push(name)
    else refused = reply
  }
  const { error } = await refused.json()
  expect([refused.status, error]).toEqual([
    503,
    {
      code: 503,
      message:
        'There is no room left on the disk of the gateway at the moment, so the request was not carried out. Send it again later',
    },
  ])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  const listed = async (): Promise<number> =>
    (await (await gateway.manage('GET', '/keys')).json()).data.length
  const entries = (): unknown[] =>
    gateway.database.file.query("SELECT 1 FROM audit_log WHERE action = 'key.create'").all()
  const before = [await listed(), entries().length]
  const large = { name: 'y'.repeat(255), description: 'z'.repeat(500) }
  for (const [method, path, body] of [
    ['POST', '/workspaces', { name: large.name.slice(0, 60), slug: 'large', description: large.description }],
    ['POST', '/keys', { name: large.name }],
  ] as const) {
    const reply = await gateway.manage(method, path, body)
    expect([path, reply.status, await reply.text()]).toEqual([path, 503, expect.any(String)])
  }
  expect([await listed(), entries().length]).toEqual(before)
  // The failure is of the disk, and its cause is in the log alone.
  expect(logged(50, 'no room left')).toBeGreaterThan(0)
  makeRoom(gateway.database)
  expect((await gateway.manage('POST', '/keys', { name: large.name })).status).toBe(200)
  expect([await listed(), entries().length]).toEqual([Number(before[0]) + 1, Number(before[1]) + 1])
})

test('stored responses: a request that cannot start is refused before a provider is called, a stored reply is returned completely', async () => {
  upstream.on('cent', unary('Hello'))
  fill(gateway.bodies)
  // Nothing that packs well.
  const input = Array.from({ length: 3000 }, (_, n) => `word ${n * 7919}`).join(' ')
  const refused = await gateway.call('/responses', {
    model: 'cent',
    input,
    background: true,
    max_output_tokens: 16,
  })
  expect([refused.status, Number(refused.headers.get('retry-after')) > 0]).toEqual([503, true])
  expect((await refused.json()).error.message).toContain('no room left on the disk')
  expect(upstream.seen.length).toBe(0)
  upstream.on('cent', () => sse(frames(['Hello'])))
  const stream = await gateway.call('/responses', {
    model: 'cent',
    input,
    store: true,
    stream: true,
    max_output_tokens: 16,
  })
  const text = await stream.text()
  expect([stream.status, text.includes('response.completed')]).toEqual([200, true])
  const [, id] = /"id":"(resp_[0-9a-f]+)"/.exec(text) ?? []
  expect((await gateway.call(`/responses/${id}`)).status).toBe(404)
  expect(logged(50, 'a failure after the client had disconnected')).toBe(1)
  makeRoom(gateway.bodies)
  const kept = await gateway.call('/responses', { model: 'cent', input, store: true, stream: true })
  const [, keptId] = /"id":"(resp_[0-9a-f]+)"/.exec(await kept.text()) ?? []
  expect((await gateway.call(`/responses/${keptId}`)).status).toBe(200)
})

test('on an almost full disk no request starts, and running ones are settled', async () => {
  const gate = Promise.withResolvers<void>()
  upstream.on('cent', async (seen, request) => {
    await gate.promise
    return unary('Hello')(seen, request)
  })
  const running = gateway.call('/chat/completions', ask)
  while (upstream.seen.length === 0) await new Promise(setImmediate)
  hasDiskSpace = false
  for (const [path, body] of billable) await refuses(path, body, 'hardly any room left')
  expect(await health()).toMatchObject([503, { status: 'not ready', reasons: [{ reason: 'disk' }] }])
  expect((await gateway.manage('GET', '/activity')).status).toBe(200)
  gate.resolve()
  expect((await running).status).toBe(200)
  expect([upstream.seen.length, gateway.generations().length]).toEqual([1, 1])
  hasDiskSpace = true
  expect(await health()).toEqual([200, { status: 'ready' }])
  expect((await gateway.call('/chat/completions', ask)).status).toBe(200)
})
