import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Anthropic from '@anthropic-ai/sdk'
import OpenAI from 'openai'
import manifest from '../package.json' with { type: 'json' }
import { BOOTSTRAP, killServers, sluice, startServer } from './cli/process.ts'
import { type Expected, FIXTURES } from './recordings.ts'
import { removeVerified } from './verified.ts'

const BUILD_LIMIT_MS = 120_000
const root = mkdtempSync(join(tmpdir(), 'sluice-binary-'))
const hostile = join(root, 'hostile')
const data = join(root, 'data')
const command = [join(root, 'out', process.platform === 'win32' ? 'sluice.exe' : 'sluice')]
let built = ''

/** A folder that would take over a program which loads what lies around. */
function prepareHostile(): void {
  mkdirSync(hostile)
  const attack = `require('node:fs').writeFileSync(${JSON.stringify(join(root, 'attacked'))}, 'yes')`
  writeFileSync(join(hostile, 'attack.js'), attack)
  writeFileSync(join(hostile, 'bunfig.toml'), 'preload = ["./attack.js"]\n[run]\npreload = ["./attack.js"]\n')
  writeFileSync(
    join(hostile, '.env'),
    'SLUICE_PORT=none\nSLUICE_LOG_LEVEL=loud\nBUN_CONFIG_MAX_HTTP_REQUESTS=1\n',
  )
  writeFileSync(
    join(hostile, 'tsconfig.json'),
    '{ "compilerOptions": { "paths": { "*": ["./attack.js"] } } }',
  )
  writeFileSync(join(hostile, 'package.json'), '{ "type": "commonjs", "imports": { "#*": "./attack.js" } }')
}

beforeAll(async () => {
  prepareHostile()
  const build = join(import.meta.dir, '../build.ts')
  const child = Bun.spawn([process.execPath, build, '--out', join(root, 'out')], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  built = await new Response(child.stdout).text()
  if ((await child.exited) !== 0) throw new Error(`the build failed: ${built}`)
}, BUILD_LIMIT_MS)
afterAll(() => removeVerified(root))

describe('the binary, in a hostile folder', () => {
  afterEach(killServers)
  const inHostile = { command, cwd: hostile }

  test('the build says what it made', async () => {
    const hash = new Bun.CryptoHasher('sha256').update(await Bun.file(command[0] ?? '').bytes()).digest('hex')
    expect(built).toContain(`${hash}  ${command[0]}`)
  })

  test('version', async () => {
    const { exitCode, stdout, stderr } = await sluice(['version', '--json'], inHostile)
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    expect(JSON.parse(stdout)).toMatchObject({ version: manifest.version })
  })

  test('serves from the given data folder, streams an answer, and ends with 0 on SIGTERM', async () => {
    const server = await startServer(data, { ...inHostile, env: BOOTSTRAP })
    expect((await fetch(`${server.url}/health/live`)).status).toBe(200)
    const answer = await fetch(`${server.url}/api/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'sluice/demo',
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
    })
    expect(answer.status).toBe(200)
    expect(await answer.text()).toEndWith('data: [DONE]\n\n')
    if (process.platform === 'linux') {
      const environment = (await Bun.file(`/proc/${server.pid}/environ`).text()).split('\0')
      expect(environment).toContain('BUN_CONFIG_MAX_HTTP_REQUESTS=65535')
    }
    expect(await server.stop()).toBe(0)
    expect(existsSync(join(data, 'sluice.db'))).toBe(true)
    const verified = await sluice(['verify', data], inHostile)
    expect(verified).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('1 generations') })
  })

  test('the official client streams a provider’s answer through it: text, tool calls, usage and cost', async () => {
    const replay = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const { tools } = await request.json()
        const file = tools ? 'openai-parallel-tools.sse' : 'openai-text.sse'
        const recording = Bun.file(join(FIXTURES, 'chat', file))
        return new Response(recording, { headers: { 'content-type': 'text/event-stream' } })
      },
    })
    const env = {
      ...BOOTSTRAP,
      OPENAI_API_KEY: 'sk-upstream',
      OPENAI_BASE_URL: `http://127.0.0.1:${replay.port}/v1`,
    }
    const server = await startServer(data, { ...inHostile, env })
    const client = new OpenAI({
      baseURL: `${server.url}/api/v1`,
      apiKey: BOOTSTRAP.SLUICE_API_KEY,
      maxRetries: 0,
    })
    const ask = { model: 'openai/gpt-4o-mini', messages: [{ role: 'user' as const, content: 'Hello' }] }
    const expected: Record<string, { interactions: Expected[] }> = await Bun.file(
      join(FIXTURES, 'chat', 'EXPECTED.json'),
    ).json()

    const spoken = client.chat.completions.stream(ask)
    const text = await spoken.finalContent()
    expect(text).toBe(expected['openai-text.sse']?.interactions[0]?.text ?? 'no text is expected')
    const { usage } = await spoken.finalChatCompletion()
    expect(usage).toMatchObject({ prompt_tokens: expect.any(Number), cost: expect.any(Number) })
    expect(JSON.stringify(usage)).toMatch(/"cost":(?!0[,}])/)

    const tool = { type: 'function' as const, function: { name: 'look', parameters: {} } }
    const called = await client.chat.completions.stream({ ...ask, tools: [tool] }).finalChatCompletion()
    const wanted = expected['openai-parallel-tools.sse']?.interactions[0]?.tool_calls ?? []
    expect(wanted.length).toBeGreaterThan(1)
    const calls = called.choices[0]?.message.tool_calls ?? []
    expect(calls.map((call) => (call.type === 'function' ? call.function.name : ''))).toEqual(
      wanted.map(({ name }) => name ?? ''),
    )

    const record = await fetch(`${server.url}/api/v1/generation?id=${called.id}`, {
      headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}` },
    })
    expect(await record.json()).toMatchObject({
      data: { id: called.id, provider_name: 'OpenAI', finish_reason: 'tool_calls' },
    })
    expect(await server.stop()).toBe(0)
    await replay.stop(true)
  })

  test('so does Anthropic’s: messages, a stream with thoughts and calls, a count of tokens', async () => {
    const recorded = (file: string, type: string) =>
      new Response(Bun.file(join(FIXTURES, 'messages', file)), { headers: { 'content-type': type } })
    const replay = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        if (request.url.endsWith('/count_tokens')) return Response.json({ input_tokens: 4321 })
        const { stream } = await request.json()
        return stream
          ? recorded('thinking-tools.sse', 'text/event-stream')
          : recorded('cached.json', 'application/json')
      },
    })
    const env = {
      ...BOOTSTRAP,
      ANTHROPIC_API_KEY: 'sk-ant-upstream',
      ANTHROPIC_BASE_URL: `http://127.0.0.1:${replay.port}/v1`,
    }
    const server = await startServer(data, { ...inHostile, env })
    const client = new Anthropic({ baseURL: server.url, apiKey: BOOTSTRAP.SLUICE_API_KEY, maxRetries: 0 })
    const ask = {
      model: 'anthropic/claude-sonnet-4.5',
      max_tokens: 9000,
      messages: [{ role: 'user' as const, content: 'Hello' }],
    }
    const whole = await client.messages.create(ask)
    expect(whole).toMatchObject({ type: 'message', role: 'assistant', stop_reason: 'end_turn' })
    expect(whole.usage).toMatchObject({ cache_read_input_tokens: 3400, cost: expect.any(Number) })
    const streamed = await client.messages.stream(ask).finalMessage()
    expect(streamed.content.map(({ type }) => type)).toEqual([
      'thinking',
      'text',
      'tool_use',
      'tool_use',
      'tool_use',
    ])
    const { model, messages } = ask
    expect(await client.messages.countTokens({ model, messages })).toEqual({ input_tokens: 4321 })
    const demo = await client.messages.stream({ ...ask, model: 'sluice/demo' }).finalMessage()
    expect(demo).toMatchObject({ stop_reason: 'end_turn', content: [{ type: 'text' }] })
    const record = await fetch(`${server.url}/v1/generation?id=${streamed.id}`, {
      headers: { 'x-api-key': BOOTSTRAP.SLUICE_API_KEY },
    })
    expect(await record.json()).toMatchObject({
      data: { provider_name: 'Anthropic', api_type: 'messages', native_finish_reason: 'tool_use' },
    })
    expect(await server.stop()).toBe(0)
    await replay.stop(true)
  })

  test('the document and its page come from the binary', async () => {
    const server = await startServer(data, { ...inHostile, env: BOOTSTRAP })
    const document: { openapi?: string } = await (await fetch(`${server.url}/openapi.json`)).json()
    expect(document.openapi).toStartWith('3.')
    const page = await (await fetch(`${server.url}/docs`)).text()
    expect(page).toContain('<html')
    const assets = [...page.matchAll(/(?:src|href)="(?!data:)([^"#]+)"/g)].map(
      ([, path = '']) => new URL(path, `${server.url}/docs`),
    )
    expect(assets.length).toBeGreaterThan(0)
    for (const asset of assets) {
      expect(asset.host).toBe(new URL(server.url).host)
      expect((await fetch(asset)).status).toBe(200)
    }
    expect(await server.stop()).toBe(0)
  })

  test('wrong settings are sentences, without a trace of the code', async () => {
    const { exitCode, stderr } = await sluice(['serve'], { ...inHostile, env: { SLUICE_PORT: 'x' } })
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: 'sluice: SLUICE_PORT must be a whole number from 0 to 65535, not "x"\n',
    })
  })

  test('nothing of the folder was run', () => {
    expect(existsSync(join(root, 'attacked'))).toBe(false)
  })
})
