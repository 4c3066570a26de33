import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForReading } from '../../src/db/database.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { BOOTSTRAP, startServer } from '../cli/process.ts'
import { type FakeUpstream, startUpstream, unary } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

let upstream: FakeUpstream
let folder: string

beforeAll(() => {
  upstream = startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'sluice-steps-'))
  const models = ['a', 'b', 'judge'].map((id) => ({
    id,
    pricing: { prompt: '0.000001', completion: '0.000002' },
  }))
  const providers = [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ providers }))
})
afterAll(async () => {
  await upstream.stop()
  removeVerified(folder)
})

test('a server that is killed between steps has each finished step on the ledger, and charges the running one', async () => {
  const asked = Promise.withResolvers<void>()
  const never = Promise.withResolvers<Response>()
  upstream.on('a', unary('Draft of a'))
  upstream.on('b', unary('Draft of b'))
  upstream.on('judge', () => {
    asked.resolve()
    return never.promise
  })
  const data = join(folder, 'data')
  const server = await startServer(data, { cwd: folder, env: BOOTSTRAP })
  const asking = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({
      model: 'openrouter/fusion',
      messages: [{ role: 'user', content: 'Which?' }],
      plugins: [{ id: 'fusion', analysis_models: ['a', 'b'], model: 'judge' }],
    }),
  }).catch(() => null)
  await asked.promise
  // Each commit is one transaction: what was journaled before the judge was asked is there within a few milliseconds.
  const reading = openForReading(join(data, 'sluice.db'))
  const journal = reading.file.query('SELECT 1 FROM journal')
  while (journal.all().length === 0) await new Promise(setImmediate)
  reading.close()
  server.kill('SIGKILL')
  await server.exited
  await asking
  never.resolve(new Response())

  const next = await startServer(data, { cwd: folder, env: BOOTSTRAP })
  expect(await next.stop()).toBe(0)
  const database = openForReading(join(data, 'sluice.db'))
  const rows = database.file
    .query<{ id: string; parent_id: string | null }, []>(
      'SELECT id, parent_id, model, finish_reason, cancelled, cost_nano_usd > 0 AS charged FROM generations ORDER BY model',
    )
    .all()
  database.close()
  const parent = rows.find(({ parent_id }) => parent_id === null)
  expect(rows).toMatchObject([
    { model: 'a', parent_id: parent?.id, finish_reason: 'stop', cancelled: 0, charged: 1 },
    { model: 'b', parent_id: parent?.id, finish_reason: 'stop', cancelled: 0, charged: 1 },
    { model: 'judge', parent_id: null, finish_reason: 'error', cancelled: 1, charged: 1 },
  ])
  expect(verifyFolder(data).differences).toEqual([])
}, 60_000)
