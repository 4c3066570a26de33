/**
 * Secrets of every kind are put in through the API and the settings of a real server that logs all that it can, and
 * are then looked for: in the log, in the words of refusals, in every file of the data folder while the server runs and
 * after it, and in the copies that are made before migrations.
 */
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
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

/** In the middle of every secret, so that no masked form shows it. Refusals may quote a word, and no more. */
const MARK = 'cAnArY7f3a9'
const secret = (kind: string): string => `aaaa-${kind}-of-a-person-${MARK}-${kind}-of-a-person-zzzz`

const BOOTSTRAP = {
  SLUICE_SECRET_KEY: createHash('sha256').update(MARK).digest('hex'),
  SLUICE_MANAGEMENT_KEY: secret('management-key-of-the-settings'),
  SLUICE_API_KEY: secret('inference-key-of-the-settings'),
}
const PASSWORD = secret('password')
const PERSON = 'owner@sluice.example'

const folder = mkdtempSync(join(tmpdir(), 'sluice-canary-'))
const data = join(folder, 'data')
const logs = [1, 2].map((n) => join(folder, `log-${n}.ndjson`))
/** Whatever was refused, with what was asked. */
const refusals: { asked: string; text: string }[] = []
/** How often each request got each status. */
const answered = new Map<string, number>()
/** Secrets that the server made. */
const made = new Set<string>()
let server: Served
let stderr = ''

/** A provider that repeats in its refusals whatever it was sent. */
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const said = `${request.headers.get('authorization')} ${request.url} ${await request.text()}`
    const status = said.includes('fail-500') ? 500 : said.includes('fail-400') ? 400 : 401
    if (!said.includes('fail-')) return Response.json(completion(said))
    return Response.json({ error: { message: `You sent ${said}`, code: said } }, { status })
  },
})
const completion = (said: string) => ({
  id: 'up-1',
  model: 'tide',
  choices: [{ index: 0, message: { role: 'assistant', content: said }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 1, total_tokens: 4 },
})
const models = ['tide', 'fail-401', 'fail-500'].map((id) => ({
  id,
  pricing: { prompt: '0', completion: '0' },
}))

const settings = {
  log_level: 'trace',
  providers: [
    {
      slug: 'lab',
      base_url: `http://127.0.0.1:${upstream.port}/v1`,
      api_key: secret('key-of-an-entry'),
      models,
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
const inference = { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}` }
const chat = (model: string, headers: Record<string, string> = inference) =>
  send(
    'POST',
    '/chat/completions',
    { model, messages: [{ role: 'user', content: secret('prompt') }] },
    headers,
  )

/** What is put in, by its kind. */
const deeds: [kind: string, put: () => Promise<unknown>][] = [
  [
    'a key that is made, and told again to whoever asks twice',
    async () => {
      for (const _ of [1, 2]) {
        const { key } = await send('POST', '/keys', { name: 'made' }, { 'idempotency-key': 'once' })
        made.add(String(key))
      }
      await chat('tide', { authorization: `Bearer ${[...made].at(-1)}` })
    },
  ],
  [
    'keys where none belong: wrong ones, in other headers, in paths and queries',
    async () => {
      const [key = ''] = made
      await send('GET', '/keys', undefined, { authorization: `Bearer ${secret('wrong-key')}` })
      await send('GET', '/keys', undefined, { authorization: `Basic ${secret('basic')}` })
      await send('POST', '/messages', {}, { authorization: '', 'x-api-key': secret('wrong-key') })
      await send('GET', `/keys/${key}`)
      await send('GET', `/keys?api_key=${secret('query')}`)
      await send('PATCH', `/keys/${key}`, { name: 'a' })
      await send('GET', '/nowhere', undefined, { cookie: `sluice_session=${secret('cookie')}` })
    },
  ],
  [
    'bodies that are refused',
    async () => {
      await send('POST', '/keys', `{"name": "${secret('broken-body')}`)
      await send('POST', '/keys', { name: 'a', key: secret('unknown-field') })
      await send('POST', '/keys', { name: 'a', external: { user: 'u', api_key: [secret('external')] } })
      await send('POST', '/keys', { name: 'a', limit_reset: secret('choice'), expires_at: secret('time') })
      await send('POST', '/byok', { provider: 'openai', key: { value: secret('byok-refused') } })
      await send('POST', '/chat/completions', { model: 'tide', messages: secret('messages') }, inference)
    },
  ],
  [
    "a workspace's own provider keys",
    async () => {
      const { data } = await send('POST', '/byok', { provider: 'openai', key: secret('byok'), name: 'Ours' })
      await send('PATCH', `/byok/${objectOf(data)['id']}`, { key: secret('byok-changed') })
      await chat('openai/gpt-4o')
    },
  ],
  [
    'providers of the operator, and their credentials',
    async () => {
      const base_url = `http://127.0.0.1:${upstream.port}/v1`
      const entry = {
        slug: 'stored',
        base_url,
        api_key: secret('key-of-a-stored-entry'),
        models: [{ id: 'stored-1' }],
      }
      await send('POST', '/providers/entries', entry)
      await send('PATCH', '/providers/entries/stored', { api_key: secret('changed-key-of-an-entry') })
      await send('POST', '/providers/entries', {
        ...entry,
        slug: 'broken',
        api_key: [secret('list-of-keys')],
      })
      const credential = { provider: 'mistral', credential: secret('credential'), base_url }
      const { data } = await send('POST', '/providers/credentials', credential)
      const id = String(objectOf(data)['id'])
      await send('PATCH', `/providers/credentials/${id}`, { credential: secret('rotated-credential') })
      for (const slug of ['stored', 'mistral', 'lab'])
        await send('POST', `/providers/configured/${slug}/test`)
    },
  ],
  [
    'destinations of every type',
    async () => {
      for (const [type, fields] of Object.entries(DESTINATION_TYPES)) {
        const given = Object.fromEntries(fields.map((field) => [field.name, givenTo(field)]))
        const headers = { authorization: secret(`header-of-${type}`) }
        const body = { name: type, type, config: { ...given, headers } }
        const { data } = await send('POST', '/observability/destinations', body)
        const id = String(objectOf(data)['id'])
        await send('POST', `/observability/destinations/${id}/test`)
        await send('POST', '/observability/destinations', {
          ...body,
          config: { ...given, secretKey: [secret('list')] },
        })
      }
    },
  ],
  [
    'prompts and replies, and what providers repeat of credentials',
    async () => {
      await send('PATCH', '/workspaces/default', { is_observability_io_logging_enabled: true })
      for (const { id } of models) await chat(id)
      const { id } = await chat('tide')
      const { data: content } = await send('GET', `/generation/content?id=${id}`)
      logged = JSON.stringify(content)
      const kept = { model: 'tide', input: secret('stored-input'), store: true }
      await send('POST', '/responses', kept, inference)
      await send('POST', '/responses', { ...kept, background: true }, inference)
    },
  ],
  [
    'passwords, sessions and links',
    async () => {
      await send('POST', '/auth/sign-in', { email: PERSON, password: secret('wrong-password') })
      await send('POST', '/auth/sign-in', {
        email: PERSON,
        password: PASSWORD,
        more: secret('sign-in-field'),
      })
      await send('POST', '/auth/sign-in', { email: PERSON, password: PASSWORD })
      const invitation = { email: 'ada@sluice.example', role: 'org:member' }
      const { token } = await send('POST', '/organization/invitations', invitation, {
        'idempotency-key': 'link',
      })
      made.add(String(token))
      await send('POST', '/auth/accept-invitation', { token: secret('link'), password: secret('password') })
      await send('POST', '/auth/accept-invitation', { token, password: secret('password-of-ada') })
    },
  ],
]

/** A value that the field takes, with the mark in it where it is one to keep. */
function givenTo({
  name,
  kind,
  choices,
  isSecret,
}: (typeof DESTINATION_TYPES)[keyof typeof DESTINATION_TYPES][number]): string {
  if (choices !== undefined) return choices[0] ?? ''
  if (kind === 'dsn') return `http://${secret(name)}@127.0.0.1:${upstream.port}/2`
  // A hook's address is its own credential.
  if (kind === 'url') return `http://127.0.0.1:${upstream.port}/${secret(name)}?token=${secret(name)}`
  if (kind === 'host') return `127.0.0.1:${upstream.port}`
  if (isSecret === true) return secret(name)
  return 'plain'
}

/** A content as it is told: the mark is in it. */
let logged = ''
let onDisk: unknown[] = []
let names: string[] = []
let bodies: BodiesReport | null = null
beforeAll(async () => {
  mkdirSync(data)
  writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify(settings))
  server = await start(logs[0])
  for (const [, put] of deeds) await put()
  // As they lie there while it runs.
  names = filesOf(data).map((file) => relative(data, file))
  onDisk = leaksOnDisk()
  // What waits to be written when the server stops is written.
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

/** The forms in which a secret would still be one. */
const formsOf = (text: string): string[] => {
  const bytes = Buffer.from(text)
  // A part of base64 that does not depend on what stands before and after.
  const shifted = [0, 1, 2].map((shift) =>
    Buffer.concat([Buffer.alloc(shift), bytes])
      .toString('base64')
      .slice(4, -4),
  )
  return [...new Set([text, bytes.toString('hex'), ...shifted, encodeURIComponent(text)])]
}
const leaksIn = (text: string): string[] =>
  [MARK, ...[...made].map((key) => key.replace(/^sk-sl-(?:mgmt-)?v1-/, ''))].flatMap((mark) =>
    formsOf(mark).flatMap((form) => {
      const place = text.indexOf(form)
      return place === -1 ? [] : [text.slice(Math.max(0, place - 80), place + form.length)]
    }),
  )
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
  test('by a search that finds', () => {
    expect(deeds.length + refusals.length).toBeGreaterThan(20)
    expect(made.size).toBeGreaterThanOrEqual(3)
    expect(leaksIn(`x ${Buffer.from(`xy${secret('a')}`).toString('base64')}`)).toHaveLength(1)
    expect(leaksIn(JSON.stringify(settings))).not.toEqual([])
    expect(leaksIn(`the key ${[...made][0]}`)).toHaveLength(1)
  })

  test('though all of them were put in', () => {
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
    // What was asked and answered is kept, for who may read it.
    expect(logged.split(MARK).length).toBeGreaterThan(3)
    expect(bodies).toMatchObject({ responses: 2, contents: models.length + 4, differences: [] })
  })

  test('in the log, at its most talkative, nor on stderr', () => {
    const log = readFileSync(logs[0] ?? '', 'utf8')
    expect(log.split('\n').length).toBeGreaterThan(30)
    expect(leaksIn(log)).toEqual([])
    expect(leaksIn(stderr)).toEqual([])
  })

  test('in what refusals say', () => {
    expect(refusals.flatMap(({ asked, text }) => leaksIn(text).map((leak) => ({ asked, leak })))).toEqual([])
  })

  test('in any file of the data folder, the write-ahead logs among them', () => {
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
    // What another version wrote would not be verified.
    database.file.run("DELETE FROM schema_migrations WHERE tag = '9999_next'")
    database.close()
    expect(copy).toContain('.before-9999_next')
    expect(leaksOnDisk()).toEqual([])
    expect(leaksIn(readFileSync(logs[1] ?? '', 'utf8'))).toEqual([])
  })
})
