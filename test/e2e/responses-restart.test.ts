/** Stored responses over the end of their process, by a kill and by SIGTERM. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import OpenAI from 'openai'
import { DATABASE_FILE, openForReading } from '../../src/db/database.ts'
import { BOOTSTRAP, killServers, type Served, sluice, startServer } from '../cli/process.ts'
import { type FakeUpstream, frames, paced, startUpstream, streamed, unary } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

const CANARY = 'canary-over-the-end'
const WORDS = ['One', ` ${CANARY}`, ' three']

let upstream: FakeUpstream
let folder: string
let data: string
/** Lets the model `held` go on after its first word. */
let goOn: () => void
let reached: Promise<void>

beforeAll(() => {
  upstream = startUpstream()
})
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-responses-'))
  data = join(folder, 'data')
  const models = ['tiny', 'held'].map((id) => ({
    id,
    pricing: { prompt: '0.000001', completion: '0.000002' },
  }))
  const lab = { slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ providers: [lab] }))
  upstream.on('tiny', (seen, request) =>
    (seen.body.stream === true ? streamed(WORDS) : unary(WORDS.join('')))(seen, request),
  )
  const open = Promise.withResolvers<void>()
  const held = Promise.withResolvers<void>()
  upstream.on('held', () => {
    let sent = 0
    return paced(frames(WORDS), 'close', async () => {
      sent += 1
      if (sent !== 3) return
      held.resolve()
      await open.promise
    })
  })
  goOn = open.resolve
  reached = held.promise
})
afterEach(() => {
  goOn()
  killServers()
  removeVerified(folder)
})
afterAll(() => upstream.stop())

const start = async (env: Record<string, string> = {}): Promise<{ server: Served; client: OpenAI }> => {
  const server = await startServer(data, { cwd: folder, env: { ...BOOTSTRAP, ...env } })
  const client = new OpenAI({ apiKey: BOOTSTRAP.SLUICE_API_KEY, baseURL: `${server.url}/v1`, maxRetries: 0 })
  return { server, client }
}

/** What `sluice verify` says of the folder, and what lies in it. */
async function expectWhole(stored: number): Promise<void> {
  const { exitCode, stdout } = await sluice(['verify', data])
  expect({ exitCode, stdout }).toEqual({
    exitCode: 0,
    stdout: expect.stringContaining(`bodies.db: ok: ${stored} stored responses`),
  })
  const names = readdirSync(data, { withFileTypes: true }).filter((entry) => entry.isFile())
  const disk = Buffer.concat(names.map(({ name }) => readFileSync(join(data, name))))
  expect(disk.includes(CANARY)).toBe(false)
}

/** Waits until this many requests are in the journal: each gets there a moment after it was sent upstream. */
async function journaled(count: number): Promise<void> {
  const database = openForReading(join(data, DATABASE_FILE))
  const rows = () => database.file.query<{ n: number }, []>('SELECT count(*) AS n FROM journal').get()?.n
  while (rows() !== count) await Bun.sleep(2)
  database.close()
}

const generation = async (server: Served, id: string) => {
  const response = await fetch(`${server.url}/v1/generation?id=${id}`, {
    headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}` },
  })
  return (await response.json()).data
}

describe('a kill', () => {
  test('leaves stored responses, and fails running ones', async () => {
    const before = await start()
    const kept = await before.client.responses.create({ model: 'tiny', input: 'Hi', store: true })
    await journaled(0)
    const running = await before.client.responses.create({ model: 'held', input: 'Hi', background: true })
    const stream = await before.client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      stream: true,
    })
    const created = await stream[Symbol.asyncIterator]().next()
    if (created.value?.type !== 'response.created') throw new Error('it did not begin with response.created')
    const streamedId = created.value.response.id
    await reached
    await journaled(2)
    before.server.kill('SIGKILL')
    await before.server.exited
    await expectWhole(3)

    const after = await start()
    const got = await after.client.responses.retrieve(kept.id)
    expect(got).toMatchObject({ status: 'completed', output_text: WORDS.join('') })
    for (const id of [running.id, streamedId]) {
      expect(await after.client.responses.retrieve(id)).toMatchObject({
        status: 'failed',
        error: { code: 'server_error', message: expect.stringContaining('stopped before') },
      })
      expect(await generation(after.server, id)).toMatchObject({ finish_reason: 'error', cancelled: true })
    }
    // A reader that is ahead of the disk gets the end as well.
    for (const seen of [undefined, 100]) {
      const query = seen === undefined ? {} : { starting_after: seen }
      const events = []
      for await (const event of await after.client.responses.retrieve(streamedId, { stream: true, ...query }))
        events.push(event)
      expect(events.at(-1)).toMatchObject({ type: 'response.failed', response: { id: streamedId } })
    }
    const next = await after.client.responses.create({
      model: 'tiny',
      input: 'And?',
      previous_response_id: kept.id,
    })
    expect(next.status).toBe('completed')
    expect(upstream.seen.at(-1)?.body.messages).toHaveLength(3)
    await after.client.responses.delete(kept.id)
    expect(await after.server.stop()).toBe(0)
    await expectWhole(2)
  })
})

describe('SIGTERM', () => {
  test('lets a background response finish within the grace', async () => {
    const before = await start({ SLUICE_SHUTDOWN_GRACE_MS: '10000' })
    const { id } = await before.client.responses.create({ model: 'held', input: 'Hi', background: true })
    await reached
    const exited = before.server.stop()
    while ((await fetch(`${before.server.url}/health/ready`)).status === 200) await Bun.sleep(5)
    goOn()
    expect(await exited).toBe(0)
    await expectWhole(1)
    const after = await start()
    expect(await after.client.responses.retrieve(id)).toMatchObject({
      status: 'completed',
      output_text: WORDS.join(''),
    })
    expect(await generation(after.server, id)).toMatchObject({ finish_reason: 'stop', cancelled: false })
    expect(await after.server.stop()).toBe(0)
  })

  test('fails it beyond the grace, and settles what was delivered', async () => {
    const before = await start({ SLUICE_SHUTDOWN_GRACE_MS: '0' })
    const stream = await before.client.responses.create({
      model: 'held',
      input: 'Hi',
      background: true,
      stream: true,
    })
    const events: OpenAI.Responses.ResponseStreamEvent[] = []
    const following = (async () => {
      for await (const event of stream) events.push(event)
    })()
    await reached
    while (!events.some(({ type }) => type === 'response.output_text.delta')) await Bun.sleep(5)
    expect(await before.server.stop()).toBe(0)
    await following
    const last = events.at(-1)
    if (last?.type !== 'response.failed') throw new Error(`it ended with ${last?.type}`)
    await expectWhole(1)
    const after = await start()
    const { id } = last.response
    expect(await after.client.responses.retrieve(id)).toMatchObject({ status: 'failed', output_text: 'One' })
    const { total_cost, finish_reason } = await generation(after.server, id)
    expect(finish_reason).toBe('error')
    expect(total_cost).toBeGreaterThan(0)
    expect(await after.server.stop()).toBe(0)
  })
})

test('another secret key is refused at the start, before anything is read', async () => {
  const before = await start()
  await before.client.responses.create({ model: 'tiny', input: 'Hi', store: true })
  expect(await before.server.stop()).toBe(0)
  const { exitCode, stderr } = await sluice(['serve', '--port', '0', '--data', data], {
    cwd: folder,
    env: { ...BOOTSTRAP, SLUICE_SECRET_KEY: 'cd'.repeat(32) },
  })
  expect({ exitCode, stderr }).toMatchObject({
    exitCode: expect.any(Number),
    stderr: expect.stringContaining('not the one'),
  })
  expect(exitCode).not.toBe(0)
})
