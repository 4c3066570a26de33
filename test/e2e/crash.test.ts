import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForReading } from '../../src/db/database.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { BOOTSTRAP, type Served, startServer } from '../cli/process.ts'
import { runs } from '../exhaustive.ts'
import { type FakeUpstream, startUpstream, streamed, unary } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

/** Gateway processes that are killed under load; the same seed gives the same moments. */
const KILLS = runs(8, 20)
const WORKERS = 12
const seeded = (seed: number) => () => {
  seed = (seed * 48_271) % 2_147_483_647
  return seed / 2_147_483_647
}

let upstream: FakeUpstream
let folder: string

beforeAll(() => {
  upstream = startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'sluice-crash-'))
  const models = ['unary', 'streamed'].map((id) => ({
    id,
    pricing: { prompt: '0.000001', completion: '0.000002' },
  }))
  const providers = [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ providers }))
  upstream.on('unary', unary('an answer'))
  upstream.on('streamed', streamed(['an', ' answer', ' in', ' words']))
})
afterAll(async () => {
  await upstream.stop()
  removeVerified(folder)
})

/** One answer; its id when the caller saw it finished, null when the connection broke first. */
async function answer(url: string, stream: boolean): Promise<string | null> {
  try {
    const response = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: stream ? 'streamed' : 'unary',
        stream,
        messages: [{ role: 'user', content: 'Hi' }],
      }),
    })
    const text = await response.text()
    const isFinished = stream ? text.includes('"finish_reason":"stop"') : text.includes('an answer')
    return response.status === 200 && isFinished ? response.headers.get('x-generation-id') : null
  } catch {
    return null
  }
}

/** Loads the server until it is killed; the ids of the answers that were seen finished. */
async function loadUntilKilled(server: Served, answersBeforeKill: number): Promise<string[]> {
  const finished: string[] = []
  let isAlive = true
  const worker = async (stream: boolean) => {
    while (isAlive) {
      const id = await answer(server.url, stream)
      if (id !== null) finished.push(id)
      if (finished.length >= answersBeforeKill && isAlive) {
        isAlive = false
        server.kill('SIGKILL')
      }
    }
  }
  await Promise.all(Array.from({ length: WORKERS }, (_, index) => worker(index % 2 === 0)))
  await server.exited
  return finished
}

test(`killed ${KILLS} times under load: every answer seen finished is on the ledger, none twice`, async () => {
  const random = seeded(20_261_121)
  const data = join(folder, 'data')
  const seen: string[] = []
  for (let kill = 0; kill < KILLS; kill++) {
    const server = await startServer(data, { cwd: folder, env: BOOTSTRAP })
    seen.push(...(await loadUntilKilled(server, 5 + Math.floor(random() * 120))))
    expect(verifyFolder(data).differences).toEqual([])
  }
  const last = await startServer(data, { cwd: folder, env: BOOTSTRAP })
  expect(await last.stop()).toBe(0)

  const database = openForReading(join(data, 'sluice.db'))
  const ids = database.file.query<{ id: string }, []>('SELECT id FROM generations').all()
  const open = database.file.query<{ rows: number }, []>('SELECT count(*) AS rows FROM journal').get()
  database.close()
  const onLedger = new Set(ids.map(({ id }) => id))
  expect(onLedger.size).toBe(ids.length)
  expect(seen.filter((id) => !onLedger.has(id))).toEqual([])
  expect(new Set(seen).size).toBe(seen.length)
  expect(seen.length).toBeGreaterThan(KILLS * 5)
  expect(open?.rows).toBe(0)
  expect(verifyFolder(data).differences).toEqual([])
}, 120_000)
