import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForReading } from '../../../src/db/database.ts'
import { verifyFolder } from '../../../src/ledger/verify.ts'
import { BOOTSTRAP, startServer } from '../../cli/process.ts'
import { type FakeUpstream, startUpstream } from '../../upstream.ts'
import { removeVerified } from '../../verified.ts'
import { ask, calls } from './setup.ts'

let upstream: FakeUpstream
let folder: string

beforeAll(() => {
  upstream = startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'sluice-loop-crash-'))
  const models = [{ id: 'tiny', pricing: { prompt: '0.000001', completion: '0.000002' } }]
  const providers = [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ providers }))
})
afterAll(async () => {
  await upstream.stop()
  removeVerified(folder)
})

test('killed in the third step: both finished steps are on the ledger', async () => {
  const data = join(folder, 'data')
  const server = await startServer(data, { cwd: folder, env: BOOTSTRAP })
  const third = Promise.withResolvers<void>()
  let step = 0
  upstream.on('tiny', async (seen, request) => {
    step += 1
    if (step < 3) return calls([{ name: 'calculator', args: { expression: `${step}` } }])(seen, request)
    third.resolve()
    return new Promise(() => undefined)
  })
  const answer = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(ask()),
  }).catch(() => null)
  await third.promise
  server.kill('SIGKILL')
  await Promise.all([server.exited, answer])
  const again = await startServer(data, { cwd: folder, env: BOOTSTRAP })
  expect(await again.stop()).toBe(0)

  const database = openForReading(join(data, 'sluice.db'))
  const rows = database.file
    .query<{ id: string; parent_id: string | null; cost_nano_usd: number; finish_reason: string }, []>(
      'SELECT id, parent_id, cost_nano_usd, finish_reason FROM generations ORDER BY id',
    )
    .all()
  database.close()
  const [first, second] = rows
  expect(first).toMatchObject({ parent_id: null, cost_nano_usd: 20_000, finish_reason: 'tool_calls' })
  expect(second).toMatchObject({ parent_id: first?.id, cost_nano_usd: 20_000, finish_reason: 'tool_calls' })
  expect(verifyFolder(data).differences).toEqual([])
}, 60_000)
