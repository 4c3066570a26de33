import { expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForReading } from '../../src/db/database.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { BOOTSTRAP, startServer } from '../cli/process.ts'
import { startGateway } from '../gateway.ts'
import { startUpstream } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

/** What two endpoints at once cost: within the limit in a burst, and settled after a crash. */

const pricing = { prompt: '0.00001', completion: '0.00002' }
const providersAt = (baseUrl: string) =>
  ['slow', 'fast'].map((slug) => ({
    slug,
    dialect: 'chat',
    base_url: `${baseUrl}/${slug}`,
    models: [{ id: 'tiny', pricing, max_completion_tokens: 50 }],
  }))
const body = {
  model: 'tiny',
  max_tokens: 50,
  messages: [{ role: 'user', content: 'Hi' }],
  provider: { order: ['slow', 'fast'], hedge_ms: 1 },
}
/** As much as is reserved for the output. */
const answered = (): Response =>
  Response.json({
    choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hello' } }],
    usage: { prompt_tokens: 5, completion_tokens: 50, total_tokens: 55 },
  })

test('500 requests at once, each with two endpoints, never spend or reserve more than their limit', async () => {
  const upstream = startUpstream()
  const gateway = await startGateway({
    environment: { SLUICE_ROOM_WAIT_MS: '0' },
    providers: providersAt(upstream.baseUrl),
  })
  gateway.deps.run.wait = async () => undefined
  // Room for the first half of the requests, some of them twice, and for a part of the second half.
  const LIMIT = 0.4
  const { key } = await gateway.makeKey({ limit: LIMIT })
  const { ledger } = gateway.deps
  let most = 0
  const look = (): void => {
    const spent = gateway.generations().reduce((sum, row) => sum + Number(row['cost_nano_usd']), 0)
    most = Math.max(most, spent + ledger.heldNanoUsd())
  }
  // Every second first endpoint is slower than the second one; the others answer at the same time.
  let calls = 0
  upstream.on('tiny', async ({ path }) => {
    if (calls++ % 50 === 0) look()
    if (path.includes('/slow/') && calls % 2 === 0) await Bun.sleep(50)
    return answered()
  })
  const statuses: number[] = []
  for (let half = 0; half < 2; half++) {
    const replies = Array.from({ length: 250 }, () =>
      gateway.call('/chat/completions', body, { authorization: `Bearer ${key}` }),
    )
    for (const reply of await Promise.all(replies)) {
      await reply.text()
      statuses.push(reply.status)
    }
  }
  for (let tries = 0; tries < 2_000 && ledger.heldNanoUsd() > 0; tries++) await Bun.sleep(1)
  look()
  expect(ledger.heldNanoUsd()).toBe(0)
  expect([...new Set(statuses)].sort()).toEqual([200, 402])
  expect(
    gateway.generations().some((row) => row['parent_id'] !== null && Number(row['cost_nano_usd']) > 0),
  ).toBe(true)
  expect(most).toBeGreaterThan(0)
  expect(most).toBeLessThanOrEqual(LIMIT * 1e9)
  await gateway.stop()
  await upstream.stop()
}, 60_000)

test('after a kill while both run, each is a row and charged, one the parent of the other', async () => {
  const upstream = startUpstream()
  const folder = mkdtempSync(join(tmpdir(), 'sluice-hedge-'))
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ providers: providersAt(upstream.baseUrl) }))
  upstream.on('tiny', () => new Promise<Response>(() => undefined))
  const data = join(folder, 'data')
  const server = await startServer(data, { cwd: folder, env: BOOTSTRAP })
  const reply = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).catch(() => null)
  const journalled = (): number => {
    const database = openForReading(join(data, 'sluice.db'))
    const open = database.file.query<{ rows: number }, []>('SELECT count(*) AS rows FROM journal').get()
    database.close()
    return open?.rows ?? 0
  }
  while (upstream.seen.length < 2 || journalled() < 2) await Bun.sleep(5)
  server.kill('SIGKILL')
  await server.exited
  await reply
  const last = await startServer(data, { cwd: folder, env: BOOTSTRAP })
  expect(await last.stop()).toBe(0)
  const database = openForReading(join(data, 'sluice.db'))
  const rows = database.file
    .query<{ id: string; parent_id: string | null; provider_slug: string; cost_nano_usd: number }, []>(
      'SELECT id, parent_id, provider_slug, cost_nano_usd FROM generations ORDER BY provider_slug',
    )
    .all()
  database.close()
  const [fast, slow] = rows
  expect(rows).toHaveLength(2)
  expect([slow?.provider_slug, slow?.parent_id, fast?.parent_id]).toEqual(['slow', null, slow?.id])
  expect(rows.every(({ cost_nano_usd }) => cost_nano_usd > 0)).toBe(true)
  expect(verifyFolder(data).differences).toEqual([])
  await upstream.stop()
  removeVerified(folder)
}, 60_000)
