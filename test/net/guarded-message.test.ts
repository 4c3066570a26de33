import { expect, test } from 'bun:test'
import { createServer } from 'node:tls'
import { parseOutboundAllow } from '../../src/net/address.ts'
import { guardedFetch } from '../../src/net/guarded.ts'
import { reply, scriptedServer } from './scripted.ts'
import { SELF_SIGNED } from './self-signed.ts'
import { failureOf } from './send.ts'

const OPTIONS = { limitBytes: 1000, timeoutMs: 5000, allow: parseOutboundAllow(['127.0.0.1']) }

test('headers that frame a message or name its target cannot be set', async () => {
  const server = await scriptedServer((socket) => socket.end(reply('hello')))
  await guardedFetch(server.url, {
    ...OPTIONS,
    method: 'POST',
    body: '{}',
    headers: {
      Host: 'elsewhere.example',
      'Content-Length': '9',
      'Transfer-Encoding': 'chunked',
      'Accept-Encoding': 'gzip',
      Connection: 'upgrade',
      'X-Token': 'mine',
    },
  })
  server.stop()
  const lines = server.requests[0]?.toLowerCase().split('\r\n\r\n')[0]?.split('\r\n').toSorted()
  expect(lines).toEqual([
    'accept-encoding: identity',
    'connection: close',
    'content-length: 2',
    `host: 127.0.0.1:${server.port}`,
    'post / http/1.1',
    'user-agent: sluice',
    'x-token: mine',
  ])
})

test('TLS asks for the name of the URL at the checked address, and its certificate is verified', async () => {
  const asked: string[] = []
  const server = createServer({
    ...SELF_SIGNED,
    SNICallback(name, done) {
      asked.push(name)
      done(null)
    },
  })
  server.on('tlsClientError', () => undefined)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  const failure = await failureOf(
    guardedFetch(`https://secure.example:${port}/`, { ...OPTIONS, resolve: async () => ['127.0.0.1'] }),
  )
  server.close()
  expect(failure).toMatchObject({ kind: 'connect', code: 'DEPTH_ZERO_SELF_SIGNED_CERT' })
  expect(asked).toEqual(['secure.example'])
})
