import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForReading } from '../../src/db/database.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { BOOTSTRAP, killServers, type Served, startServer } from '../cli/process.ts'
import { type FakeUpstream, startUpstream, streamed, unary } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

/** A server that is replaced under load, as by an update: what is under way ends, and nothing is lost or booked twice. */

const ROUNDS = 3
const WORKERS = 8
const ANSWERS_OF_ROUND = 60

let upstream: FakeUpstream
let folder: string
beforeAll(() => {
  upstream = startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'sluice-restart-'))
  const models = ['unary', 'streamed'].map((id) => ({
    id,
    pricing: { prompt: '0.000001', completion: '0.000002' },
  }))
  writeFileSync(
    join(folder, 'sluice.yaml'),
    JSON.stringify({ providers: [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }] }),
  )
  const late = async <T>(answer: T): Promise<T> => {
    await Bun.sleep(20)
    return answer
  }
  upstream.on('unary', async (seen, request) => late(await unary('an answer')(seen, request)))
  upstream.on('streamed', async (seen, request) => late(await streamed(['an', ' answer'])(seen, request)))
})
afterAll(async () => {
  killServers()
  await upstream.stop()
  removeVerified(folder)
})

interface Seen {
  finished: string[]
  /** Statuses of what was refused. */
  refused: number[]
  /** Answers that began and did not end whole. */
  broken: string[]
}

async function ask(url: string, stream: boolean, seen: Seen): Promise<void> {
  let response: Response
  try {
    response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, connection: 'close' },
      body: JSON.stringify({
        model: stream ? 'streamed' : 'unary',
        stream,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    })
  } catch {
    // Between two servers no process listens.
    return void (await Bun.sleep(5))
  }
  const id = response.headers.get('x-generation-id') ?? ''
  const text = await response.text().catch(() => '')
  if (response.status !== 200) seen.refused.push(response.status)
  else if (text.includes(stream ? '"finish_reason":"stop"' : 'an answer')) seen.finished.push(id)
  else seen.broken.push(id)
}

test(`replaced ${ROUNDS} times under load: all that was answered is on the ledger, once`, async () => {
  const data = join(folder, 'data')
  const start = (): Promise<Served> => startServer(data, { cwd: folder, env: BOOTSTRAP })
  const seen: Seen = { finished: [], refused: [], broken: [] }
  let server = await start()
  let isOver = false
  const workers = Array.from({ length: WORKERS }, async (_, index) => {
    while (!isOver) await ask(server.url, index % 2 === 0, seen)
  })
  for (let round = 1; round <= ROUNDS; round++) {
    while (seen.finished.length < round * ANSWERS_OF_ROUND) await Bun.sleep(5)
    expect(await server.stop()).toBe(0)
    server = await start()
  }
  while (seen.finished.length < (ROUNDS + 1) * ANSWERS_OF_ROUND) await Bun.sleep(5)
  isOver = true
  await Promise.all(workers)
  expect(await server.stop()).toBe(0)

  // Requests during the shutdown got a Retry-After.
  expect(seen.refused.filter((status) => status !== 503)).toEqual([])
  expect(seen.broken).toEqual([])
  expect(verifyFolder(data).differences).toEqual([])
  const database = openForReading(join(data, 'sluice.db'))
  const rows = database.file
    .query<{ id: string; finish_reason: string }, []>('SELECT id, finish_reason FROM generations')
    .all()
  database.close()
  expect(rows.map(({ id }) => id).toSorted()).toEqual(seen.finished.toSorted())
  expect(new Set(rows.map(({ finish_reason }) => finish_reason))).toEqual(new Set(['stop']))
  // The provider was asked once for each.
  expect(upstream.seen).toHaveLength(rows.length)
}, 60_000)
