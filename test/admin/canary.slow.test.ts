/**
 * Puts secrets of every kind into a real server, through the API and the settings, with its log at the lowest level. Then
 * looks for them: in the log, in refusals, in every file of the data folder while the server runs and after it, and in
 * the copies that are made before migrations.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { type BodiesReport, verifyBodies } from '../../src/bodies/verify.ts'
import { openDatabase } from '../../src/db/database.ts'
import { readMigrations } from '../../src/db/embedded-migrations.ts'
import { migrate } from '../../src/db/migrations.ts'
import { DESTINATION_TYPES } from '../../src/exporters/destination-types.ts'
import { objectOf } from '../../src/http/json.ts'
import { killServers, type Served, startServer } from '../cli/process.ts'
import { removeVerified } from '../verified.ts'
import { deeds, inference, models } from './canary/deeds.ts'
import { BOOTSTRAP, leaksOf, MARK, PASSWORD, PERSON, secret } from './canary/secrets.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-canary-'))
const data = join(folder, 'data')
const logs = [1, 2].map((n) => join(folder, `log-${n}.ndjson`))
/** Every refusal with its request. */
const refusals: { asked: string; text: string }[] = []
/** The number of replies by request and status. */
const answered = new Map<string, number>()
/** Secrets that the server made. */
const made = new Set<string>()
let server: Served
let stderr = ''

/** A provider whose replies repeat the request with its credential. */
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const received = `${request.headers.get('authorization')} ${request.url} ${await request.text()}`
    const status = received.includes('fail-500') ? 500 : received.includes('fail-400') ? 400 : 401
    if (!received.includes('fail-')) return Response.json(completion(received))
    return Response.json({ error: { message: `You sent ${received}`, code: received } }, { status })
  },
})
const completion = (received: string) => ({
  id: 'up-1',
  model: 'tide',
  choices: [{ index: 0, message: { role: 'assistant', content: received }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
})

const settings = {
  log_level: 'trace',
  providers: [
    {
      slug: 'lab',
      base_url: `http://127.0.0.1:${upstream.port}/v1`,
      api_key: secret('key-of-an-entry'),
      models: models.filter(({ id }) => id !== 'fail-401'),
    },
    {
      // A refused credential is not used for other models.
      slug: 'locked',
      base_url: `http://127.0.0.1:${upstream.port}/v1`,
      api_key: secret('key-of-a-refused-entry'),
      models: models.filter(({ id }) => id === 'fail-401'),
    },
  ],
}

const start = (log = ''): Promise<Served> =>
  startServer(data, {
    cwd: folder,
    log,
    env: {
      ...BOOTSTRAP,
      SLUICE_LOG_LEVEL: 'trace',
      SLUICE_ADMIN_EMAIL: PERSON,
      SLUICE_ADMIN_PASSWORD: PASSWORD,
      SLUICE_OUTBOUND_ALLOW: '127.0.0.0/8',
      OPENAI_API_KEY: secret('key-of-the-environment'),
      OPENAI_BASE_URL: `http://127.0.0.1:${upstream.port}/v1`,
    },
  })

async function send(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Record<string, unknown>> {
  const sent =
    body instanceof FormData || typeof body === 'string' || body === undefined ? body : JSON.stringify(body)
  const response = await fetch(`${server.url}${path.startsWith('/auth') ? '/api/v1' : '/v1'}${path}`, {
    method,
    headers: {
      authorization: `Bearer ${BOOTSTRAP.SLUICE_MANAGEMENT_KEY}`,
      ...(body instanceof FormData ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(sent === undefined ? {} : { body: sent }),
  })
  const text = await response.text()
  const what = `${method} ${path} ${response.status}`
  answered.set(what, (answered.get(what) ?? 0) + 1)
  if (response.status >= 400) refusals.push({ asked: what, text })
  for (const [, token] of response.headers.getSetCookie().map((each) => /=([^;]{20,})/.exec(each) ?? []))
    if (token !== undefined) made.add(token)
  return text.startsWith('{') ? objectOf(JSON.parse(text)) : {}
}
const chat = (model: string, headers: Record<string, string> = inference) =>
  send(
    'POST',
    '/chat/completions',
    { model, messages: [{ role: 'user', content: secret('prompt') }] },
    headers,
  )

/** A logged content as the API returns it: the mark is in it. */
let logged = ''
let onDisk: unknown[] = []
let names: string[] = []
let bodies: BodiesReport | null = null
beforeAll(async () => {
  mkdirSync(data)
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(settings))
  server = await start(logs[0])
  const providerUrl = `http://127.0.0.1:${upstream.port}`
  const keepContent = (content: string) => {
    logged = content
  }
  for (const [, put] of deeds) await put({ send, chat, made, providerUrl, keepContent })
  // The files while the server runs.
  names = filesOf(data).map((file) => relative(data, file))
  onDisk = leaksOnDisk()
  // This content is written when the server stops.
  await chat('tide')
  await server.stop()
  stderr += server.stderr()
  bodies = verifyBodies(join(data, 'bodies.db'))
}, 20_000)
afterAll(async () => {
  killServers()
  await upstream.stop(true)
  removeVerified(folder)
})

const leaksIn = (text: string): string[] => leaksOf(text, made)
const filesOf = (path: string): string[] =>
  readdirSync(path, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
const leaksOnDisk = (): unknown[] =>
  filesOf(data).flatMap((file) => {
    const leaks = leaksIn(readFileSync(file, 'latin1'))
    return leaks.length === 0 ? [] : [{ file: relative(data, file), leaks }]
  })

describe('no secret is found', () => {
  test('by a search that finds known leaks', () => {
    expect(deeds.length + refusals.length).toBeGreaterThan(20)
    expect(made.size).toBeGreaterThanOrEqual(3)
    expect(leaksIn(`x ${Buffer.from(`xy${secret('a')}`).toString('base64')}`)).toHaveLength(1)
    expect(leaksIn(JSON.stringify(settings))).not.toEqual([])
    expect(leaksIn(`the key ${[...made][0]}`)).toHaveLength(1)
  })

  test('although every request succeeded or failed as planned', () => {
    expect(Object.fromEntries(answered)).toMatchObject({
      'POST /keys 200': 2,
      'POST /byok 201': 1,
      'POST /providers/entries 201': 1,
      'POST /providers/credentials 201': 1,
      'POST /providers/configured/stored/test 200': 1,
      'POST /observability/destinations 201': Object.keys(DESTINATION_TYPES).length,
      'POST /auth/sign-in 200': 1,
      'POST /auth/sign-in 401': 1,
      'POST /organization/invitations 200': 1,
      'POST /auth/accept-invitation 200': 1,
      'POST /responses 200': 2,
      'POST /chat/completions 502': 2,
    })
    // Prompt and answer are stored, and returned to their owner.
    expect(logged.split(MARK).length).toBeGreaterThan(3)
    expect(bodies).toMatchObject({ responses: 2, contents: models.length + 4, differences: [] })
  })

  test('in the log at its lowest level, or on stderr', () => {
    const log = readFileSync(logs[0] ?? '', 'utf8')
    expect(log.split('\n').length).toBeGreaterThan(30)
    expect(leaksIn(log)).toEqual([])
    expect(leaksIn(stderr)).toEqual([])
  })

  test('in refusals', () => {
    expect(refusals.flatMap(({ asked, text }) => leaksIn(text).map((leak) => ({ asked, leak })))).toEqual([])
  })

  test('in any file of the data folder, including the write-ahead logs', () => {
    expect(names).toEqual(
      expect.arrayContaining(['sluice.db', 'sluice.db-wal', 'bodies.db', 'bodies.db-wal']),
    )
    expect(onDisk).toEqual([])
  })

  test('after the next start, and in the copy before a migration', async () => {
    server = await start(logs[1])
    expect(await server.stop()).toBe(0)
    const database = openDatabase(join(data, 'sluice.db'))
    const next = { tag: '9999_next', statements: ['CREATE TABLE next (id INTEGER)'] }
    const { copy } = migrate(database, [...readMigrations('sqlite'), next])
    // Rows of another version would not be verified.
    database.file.run("DELETE FROM schema_migrations WHERE tag = '9999_next'")
    database.close()
    expect(copy).toContain('.before-9999_next')
    expect(leaksOnDisk()).toEqual([])
    expect(leaksIn(readFileSync(logs[1] ?? '', 'utf8'))).toEqual([])
  })
})
