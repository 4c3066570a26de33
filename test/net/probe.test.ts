import { afterAll, expect, test } from 'bun:test'
import { probeJson } from '../../src/net/content.ts'
import { CHUNKED_HEAD, chunk, LAST_CHUNK, reply, type ScriptedServer, scriptedServer } from './scripted.ts'

const servers: ScriptedServer[] = []
afterAll(() => {
  for (const server of servers) server.stop()
})

async function answering(bytes: string, isEnded = true): Promise<ScriptedServer> {
  const server = await scriptedServer((socket) => {
    if (isEnded) socket.end(bytes)
    else socket.write(bytes)
  })
  servers.push(server)
  return server
}

test('JSON of a local server', async () => {
  const server = await answering(reply('{"models":[{"name":"é"}]}'))
  expect(await probeJson(`${server.url}/api/tags`)).toEqual({ models: [{ name: 'é' }] })
  expect(server.requests[0]).toStartWith('GET /api/tags HTTP/1.1\r\n')
})

const NOTHING: [name: string, bytes: string, isEnded: boolean][] = [
  ['an error', reply('{}', '500 Oops'), true],
  ['a redirect', reply('{}', '302 Found', 'location: /elsewhere\r\n'), true],
  ['no JSON', reply('Ollama is running'), true],
  ['an empty body', reply(''), true],
  ['no body', 'HTTP/1.1 204 No Content\r\n\r\n', true],
  ['too large a body', reply(`"${'x'.repeat(2000)}"`), true],
  ['too large a body without a length', CHUNKED_HEAD + chunk(`"${'x'.repeat(2000)}"`) + LAST_CHUNK, true],
  ['a cut body', `HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}`, true],
  ['no HTTP', 'SSH-2.0-OpenSSH_9.9\r\n', true],
  ['a closed connection', '', true],
  ['silence', '', false],
  ['silence in the body', `HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{}`, false],
]

test.each(NOTHING)('%s is null', async (_name, bytes, isEnded) => {
  const server = await answering(bytes, isEnded)
  expect(await probeJson(server.url, { timeoutMs: isEnded ? 5000 : 60, limitBytes: 1000 })).toBeNull()
  expect(server.requests).toHaveLength(1)
})

test('no server is null', async () => {
  const server = await answering('')
  server.stop()
  expect(await probeJson(server.url)).toBeNull()
})

test('an aborted probe is null', async () => {
  const server = await answering('', false)
  expect(await probeJson(server.url, { signal: AbortSignal.abort() })).toBeNull()
})

const ELSEWHERE = [
  'http://example.com/',
  'http://10.0.0.1/',
  'http://127.0.0.1.example.com/',
  'http://localhost.example.com/',
  'http://127.0.0.1@example.com/',
  'https://127.0.0.1/',
  'file:///etc/hostname',
  'nonsense',
  '',
]
test.each(ELSEWHERE)('only this machine is called: %p', async (url) => {
  expect(await probeJson(url)).toBeNull()
})
