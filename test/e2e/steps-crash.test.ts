import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openForReading } from '../../src/db/database.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { BOOTSTRAP, startServer } from '../cli/process.ts'
import { dataUrl, scannedPdf } from '../tools/documents/files.ts'
import { type FakeUpstream, startUpstream, unary } from '../upstream.ts'
import { removeVerified } from '../verified.ts'

let upstream: FakeUpstream
let folder: string
/** Counts the data folders. */
let kills = 0

beforeAll(() => {
  upstream = startUpstream()
  folder = mkdtempSync(join(tmpdir(), 'sluice-steps-'))
  const models = [
    ...['a', 'b', 'judge'].map((id) => ({ id, pricing: { prompt: '0.000001', completion: '0.000002' } })),
    {
      id: 'pages',
      pricing: { prompt: '0', completion: '0', request: '0.002' },
      architecture: { input_modalities: ['file'], output_modalities: ['ocr'] },
    },
  ]
  const providers = [{ slug: 'lab', dialect: 'chat', base_url: upstream.baseUrl, models }]
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ providers }))
})
afterAll(async () => {
  await upstream.stop()
  removeVerified(folder)
})

/** The rows after the server was killed while the model `hanging` had not answered this request. */
async function rowsAfterKill(hanging: string, asked: object) {
  const called = Promise.withResolvers<void>()
  const never = Promise.withResolvers<Response>()
  upstream.on(hanging, () => {
    called.resolve()
    return never.promise
  })
  kills += 1
  const data = join(folder, `data-${kills}`)
  const env = { ...BOOTSTRAP, SLUICE_OCR_MODEL: 'pages' }
  const server = await startServer(data, { cwd: folder, env })
  const asking = fetch(`${server.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify(asked),
  }).catch(() => null)
  await called.promise
  // Each commit is one transaction: what was journaled before the call is there within a few milliseconds.
  const reading = openForReading(join(data, 'sluice.db'))
  const journal = reading.file.query('SELECT 1 FROM journal')
  while (journal.all().length === 0) await new Promise(setImmediate)
  reading.close()
  server.kill('SIGKILL')
  await server.exited
  await asking
  never.resolve(new Response())

  const next = await startServer(data, { cwd: folder, env })
  expect(await next.stop()).toBe(0)
  const database = openForReading(join(data, 'sluice.db'))
  const rows = database.file
    .query<{ id: string; parent_id: string | null }, []>(
      'SELECT id, parent_id, model, finish_reason, cancelled, cost_nano_usd, cost_nano_usd > 0 AS charged FROM generations ORDER BY model',
    )
    .all()
  database.close()
  expect(verifyFolder(data).differences).toEqual([])
  return rows
}

test('a server that is killed between steps has each finished step on the ledger, and charges the running one', async () => {
  upstream.on('a', unary('Draft of a'))
  upstream.on('b', unary('Draft of b'))
  const rows = await rowsAfterKill('judge', {
    model: 'openrouter/fusion',
    messages: [{ role: 'user', content: 'Which?' }],
    plugins: [{ id: 'fusion', analysis_models: ['a', 'b'], model: 'judge' }],
  })
  const parent = rows.find(({ parent_id }) => parent_id === null)
  expect(rows).toMatchObject([
    { model: 'a', parent_id: parent?.id, finish_reason: 'stop', cancelled: 0, charged: 1 },
    { model: 'b', parent_id: parent?.id, finish_reason: 'stop', cancelled: 0, charged: 1 },
    { model: 'judge', parent_id: null, finish_reason: 'error', cancelled: 1, charged: 1 },
  ])
}, 60_000)

const SCAN = {
  model: 'a',
  messages: [
    {
      role: 'user',
      content: [
        {
          type: 'file',
          file: {
            filename: 'scan.pdf',
            file_data: dataUrl('application/pdf', scannedPdf([{ rows: ['##', '..'] }])),
          },
        },
      ],
    },
  ],
  plugins: [{ id: 'file-parser', pdf: { engine: 'mistral-ocr' } }],
}

test('a recognition that is killed is charged, and the request that it was for is not', async () => {
  expect(await rowsAfterKill('pages', SCAN)).toMatchObject([
    { model: 'pages', finish_reason: 'error', cancelled: 1, cost_nano_usd: 2_000_000 },
  ])
}, 60_000)

test('a recognition that has ended is on the ledger although its request is killed', async () => {
  upstream.on('pages', () =>
    Response.json({
      pages: [{ index: 0, markdown: 'One', images: [], dimensions: null }],
      usage_info: { pages_processed: 1, doc_size_bytes: 1 },
    }),
  )
  const rows = await rowsAfterKill('a', SCAN)
  expect(rows).toMatchObject([
    { model: 'a', parent_id: null, finish_reason: 'error', cancelled: 1, charged: 1 },
    { model: 'pages', parent_id: rows[0]?.id, finish_reason: 'stop', cancelled: 0, cost_nano_usd: 2_000_000 },
  ])
}, 60_000)
