import { Database as SqliteFile } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BOOTSTRAP, inFolder, killServers, type Served, sluice, startServer } from './process.ts'

const SECRET = 'sk-proj-Canary-0123456789-Zebra'
const SECOND = 'sk-proj-Second-9876543210-Tiger'
const LABEL = 'sk-...bra'
/** What the upstream says in each of its errors; no log and no file may repeat it. */
const WORDS = 'quokka-overload-in-cell-77'
const UUID = /[0-9a-f]{8}-[0-9a-f-]{27}/

const sse = (...data: unknown[]): Response =>
  new Response(
    data.map((one) => `data: ${typeof one === 'string' ? one : JSON.stringify(one)}\n\n`).join(''),
    {
      headers: { 'content-type': 'text/event-stream' },
    },
  )
const chunk = (delta: unknown, finish: string | null = null): unknown => ({
  id: 'up-1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason: finish }],
})
const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }
const failure = (status: number, secret: string): Response =>
  Response.json({ error: { message: `${WORDS}: incorrect API key provided: ${secret}` } }, { status })

/** By the last message; any credential but a stored one is refused. */
const answers: Readonly<Record<string, (secret: string) => Response>> = {
  whole: () =>
    Response.json({
      id: 'up-1',
      object: 'chat.completion',
      created: 1,
      model: 'm',
      choices: [{ index: 0, message: { role: 'assistant', content: 'It is here' }, finish_reason: 'stop' }],
      usage,
    }),
  streamed: () =>
    sse(
      chunk({ content: 'It is here' }),
      chunk({}, 'stop'),
      { ...Object(chunk({})), choices: [], usage },
      '[DONE]',
    ),
  yours: (secret) =>
    Response.json({ error: { message: `seed: ${secret} is not an integer` } }, { status: 400 }),
  midway: (secret) => sse(chunk({ content: 'It' }), { error: { message: `${WORDS} ${secret}`, code: 500 } }),
  torn: (secret) => sse(chunk({ content: 'It' }), `{"error": "${WORDS} ${secret}`),
  words: (secret) =>
    new Response(`<html>${WORDS} ${secret}</html>`, { headers: { 'content-type': 'text/html' } }),
  broken: (secret) => failure(500, secret),
  limited: (secret) => failure(429, secret),
  // The last one: a refused credential is not used again.
  refused: (secret) => failure(401, secret),
}

let upstream: Bun.Server<undefined>
/** The credential that came with each call. */
let shown: string[]
/** What it was asked. */
const asked = new Set<string>()
let baseUrl: string
beforeAll(() => {
  shown = []
  upstream = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const secret = (request.headers.get('authorization') ?? '').replace(/^Bearer /, '')
      shown.push(secret)
      if (new URL(request.url).pathname === '/v1/models') return Response.json({ data: [] })
      const { messages } = await request.json()
      const { content } = messages.at(-1)
      asked.add(content)
      const answer = answers[content]
      if (answer === undefined || ![SECRET, SECOND].includes(secret)) return failure(401, secret)
      return answer(secret)
    },
  })
  baseUrl = `http://127.0.0.1:${upstream.port}/v1`
})
afterAll(() => upstream.stop(true))
afterEach(killServers)

const ask = (server: Served, content: string, stream = false): Promise<Response> =>
  fetch(`${server.url}/api/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'openai/gpt-4o-mini', stream, messages: [{ role: 'user', content }] }),
  })

const env = BOOTSTRAP
const providers = (
  folder: string,
  words: string[],
  options: { stdin?: string; env?: Record<string, string> } = {},
) => sluice(['providers', ...words, '--data', folder], { ...options, env: { ...env, ...options.env } })
const add = (folder: string, secret = SECRET, more: string[] = []) =>
  providers(folder, ['add', 'openai', '--key-stdin', '--base-url', baseUrl, ...more], {
    stdin: `${secret}\n`,
  })
const listed = async (folder: string): Promise<Record<string, unknown>[]> =>
  JSON.parse((await providers(folder, ['list', '--json'])).stdout).data
/** All files of the folder, by name. */
const filesOf = (folder: string): Map<string, string> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => [entry.name, readFileSync(join(entry.parentPath, entry.name), 'latin1')]),
  )

describe('sluice providers', () => {
  test('a credential is added from stdin before the first start, shown by label, used, and removed', async () => {
    await inFolder(async (parent) => {
      const folder = join(parent, 'data')
      const added = await add(folder)
      expect(added).toMatchObject({ exitCode: 0, stderr: '' })
      expect(added.stdout).toStartWith(`Stored ${LABEL} for OpenAI in ${folder}: `)
      const list = await providers(folder, ['list'])
      expect(list.stdout).toMatch(/^PROVIDER +LABEL +ID +BASE URL +STATE$/m)
      expect(list.stdout).toMatch(new RegExp(`^openai +${LABEL} +${UUID.source} +${baseUrl} +enabled$`, 'm'))
      expect(added.stdout + list.stdout).not.toContain('Canary')

      const server = await startServer(folder, { env })
      expect(await (await ask(server, 'whole')).json()).toMatchObject({
        choices: [{ message: { content: 'It is here' } }],
      })
      expect(shown.at(-1)).toBe(SECRET)
      const busy = await providers(folder, ['remove', 'openai'])
      expect(busy).toMatchObject({ exitCode: 1, stdout: '' })
      expect(busy.stderr).toMatch(new RegExp(`in use by process ${server.pid}: stop it first`))
      expect((await add(folder, SECOND)).exitCode).toBe(1)
      expect(await server.stop()).toBe(0)

      expect(await providers(folder, ['remove', 'openai'])).toMatchObject({
        exitCode: 0,
        stdout: `Removed ${LABEL} of OpenAI\n`,
      })
      expect(await listed(folder)).toEqual([])
      expect(await providers(folder, ['remove', 'openai'])).toMatchObject({
        exitCode: 3,
        stderr: 'sluice: No credential of openai is stored\n',
      })
      const without = await startServer(folder, { env })
      expect((await ask(without, 'whole')).status).toBe(404)
      expect(await without.stop()).toBe(0)
    })
  })

  test('several of one vendor: each has its id, the first is tried first, one is removed by id', async () => {
    await inFolder(async (folder) => {
      const first = JSON.parse((await add(folder, SECRET, ['--json'])).stdout).data
      expect(first).toMatchObject({ provider: 'openai', label: LABEL, base_url: baseUrl, outranked_by: null })
      const fromEnv = await providers(
        folder,
        ['add', 'openai', '--from-env', 'THEIRS', '--base-url', baseUrl],
        { env: { THEIRS: SECOND } },
      )
      expect(fromEnv.exitCode).toBe(0)
      expect(await add(folder)).toMatchObject({ exitCode: 1, stderr: expect.stringContaining(first.id) })
      const elsewhere = await providers(folder, ['add', 'openai', '--from-env', 'THIRD'], {
        env: { THIRD: 'sk-proj-third-credential' },
      })
      expect(elsewhere).toMatchObject({ exitCode: 1, stderr: expect.stringContaining('one address') })
      expect((await listed(folder)).map((one) => one['label'])).toEqual([LABEL, 'sk-...ger'])
      expect(await providers(folder, ['remove', 'openai'])).toMatchObject({
        exitCode: 2,
        stderr: expect.stringContaining(`give the id of one, ${first.id} (${LABEL})`),
      })
      expect((await providers(folder, ['remove', first.id, '--json'])).exitCode).toBe(0)
      expect(await providers(folder, ['remove', first.id])).toMatchObject({ exitCode: 3 })
      expect(await listed(folder)).toMatchObject([{ label: 'sk-...ger', sort_order: 1 }])
    })
  })

  test('what the environment says outranks it, and both commands say so', async () => {
    await inFolder(async (folder) => {
      const theirs = { OPENAI_API_KEY: SECOND, OPENAI_BASE_URL: baseUrl }
      const added = await providers(folder, ['add', 'openai', '--key-stdin', '--base-url', baseUrl], {
        stdin: SECRET,
        env: theirs,
      })
      expect(added.stderr).toBe('A server that finds OPENAI_API_KEY uses that instead\n')
      const list = await providers(folder, ['list'], { env: theirs })
      expect(list.stdout).toContain('not used: OPENAI_API_KEY is set')
      const server = await startServer(folder, { env: { ...env, ...theirs } })
      expect((await ask(server, 'whole')).status).toBe(200)
      expect(shown.at(-1)).toBe(SECOND)
      expect(await server.stop()).toBe(0)
    })
  })

  test('a wrong secret key is a sentence; the folder stays as it was', async () => {
    await inFolder(async (folder) => {
      expect((await add(folder)).exitCode).toBe(0)
      const wrong = { SLUICE_SECRET_KEY: 'cd'.repeat(32) }
      const refused = await providers(folder, ['add', 'groq', '--from-env', 'K'], {
        env: { ...wrong, K: SECOND },
      })
      expect(refused).toMatchObject({ exitCode: 1, stdout: '' })
      expect(refused.stderr).toContain('SLUICE_SECRET_KEY) is not the one')
      expect(await listed(folder)).toHaveLength(1)
    })
  })

  test('doctor tries each by its label, and names one that does not open', async () => {
    await inFolder(async (folder) => {
      await add(folder)
      await add(folder, SECOND)
      const file = new SqliteFile(join(folder, 'sluice.db'))
      file.run("UPDATE provider_credentials SET sealed_secret = 'v1.spoilt' WHERE label = 'sk-...ger'")
      file.close()
      const { exitCode, stdout } = await sluice(['doctor', '--data', folder], {
        env: { ...env, SLUICE_PORT: '0' },
      })
      expect(exitCode).toBe(1)
      expect(stdout).toMatch(/^ok +provider openai: \S+ answers in \d+ ms, with the stored sk-\.\.\.bra$/m)
      expect(stdout).toMatch(
        /^problem +provider openai: the stored sk-\.\.\.ger is not used\. .* cannot be read$/m,
      )
      expect(stdout).not.toMatch(/Canary|Second/)
    })
  })
})

describe("canary: neither a stored secret nor the provider's reply is in any file or log", () => {
  test('after answers, refusals, failures and broken streams, at level trace', async () => {
    await inFolder(async (parent) => {
      const folder = join(parent, 'data')
      const log = join(parent, 'log')
      await add(folder)
      await add(folder, SECOND)
      const file = new SqliteFile(join(folder, 'sluice.db'))
      file.run("UPDATE provider_credentials SET sealed_secret = 'v1.spoilt' WHERE label = 'sk-...ger'")
      file.close()
      const server = await startServer(folder, { env: { ...env, SLUICE_LOG_LEVEL: 'trace' }, log })
      const replies: string[] = []
      const from = shown.length
      asked.clear()
      for (const content of Object.keys(answers)) {
        for (const stream of [false, true]) replies.push(await (await ask(server, content, stream)).text())
      }
      expect(new Set(shown.slice(from))).toEqual(new Set([SECRET]))
      expect(replies.filter((reply) => reply.includes('It is here'))).toHaveLength(4)
      expect([...asked].sort()).toEqual(Object.keys(answers).sort())
      expect(replies.join('\n')).not.toContain('Canary')

      const running = filesOf(folder)
      expect([...running.keys()]).toEqual(
        expect.arrayContaining(['sluice.db', 'sluice.db-wal', 'lock.db', 'lock.pid']),
      )
      expect(await server.stop()).toBe(0)
      const stopped = filesOf(folder)
      const logged = readFileSync(log, 'utf8') + server.stderr()
      // What must be there is: nothing was looked for in the wrong place.
      expect(stopped.get('sluice.db')).toContain(LABEL)
      expect(stopped.get('sluice.db')).toContain('openai/gpt-4o-mini')
      expect(logged).toContain('a stored credential cannot be used and is left out')
      expect(
        logged.split('\n').filter((line) => line.includes('"provider":"openai"')).length,
      ).toBeGreaterThan(3)
      const all = [...running.values(), ...stopped.values(), logged]
      for (const hidden of [SECRET, 'Canary', SECOND, 'Second', WORDS]) {
        expect(all.filter((text) => text.includes(hidden))).toEqual([])
      }
    })
  }, 20_000)

  test('a folder that could not be created leaves nothing behind', async () => {
    await inFolder(async (parent) => {
      const folder = join(parent, 'data')
      const refused = await providers(folder, ['add', 'openai', '--key-stdin'], { stdin: 'two words' })
      expect(refused).toMatchObject({ exitCode: 2, stdout: '' })
      expect(refused.stderr).not.toContain('two words')
      expect(existsSync(folder)).toBe(false)
    })
  })
})
