import { expect, test } from 'bun:test'
import { createServer, type Socket } from 'node:net'
import { SELF_SIGNED } from '../net/self-signed.ts'
import { startVendor } from './vendor.ts'
import { createWorld } from './world.ts'

const healthy = startVendor()

/** A server that is not a destination: `onConnection` does with each connection what the test wants. */
async function startSockets(onConnection: (socket: Socket) => void) {
  const sockets: Socket[] = []
  const server = createServer((socket) => {
    sockets.push(socket)
    socket.on('error', () => undefined)
    onConnection(socket)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address !== null ? address.port : 0
  return {
    url: `http://127.0.0.1:${port}`,
    port,
    connections: () => sockets.length,
    open: () => sockets.filter((socket) => !socket.destroyed).length,
    stop() {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

const PARTIAL = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{'

test.each([
  ['before its answer', '' as string],
  ['within its answer', PARTIAL],
])('a destination that hangs %s is called again; the others do not wait', async (_where, text) => {
  const sockets = await startSockets((socket) => socket.once('data', () => socket.write(text)))
  const world = createWorld({ hanging: () => sockets.open() })
  world.setLanes(['hangs', sockets.url], ['works', healthy.url])
  const ids = world.settle(300)
  await world.pass(5_000)
  expect(world.totals('works')).toMatchObject({ sent: 300, waiting: 0 })
  expect(sockets.connections()).toBe(1)
  await world.pass(40_000)
  expect(sockets.connections()).toBe(2)
  expect(world.totals('hangs')).toMatchObject({
    sent: 0,
    failed: 0,
    standing: 'retrying',
    lastError: expect.stringContaining('30 seconds'),
    waiting: ids.length,
  })
  sockets.stop()
})

test('a connection that is reset is an outage, not a refusal', async () => {
  const sockets = await startSockets((socket) => socket.once('data', () => socket.resetAndDestroy()))
  const world = createWorld()
  world.setLanes(['a', sockets.url])
  world.settle(5)
  await world.pass(20_000)
  expect(sockets.connections()).toBeGreaterThan(2)
  expect(world.totals('a')).toMatchObject({ sent: 0, failed: 0, dropped: {}, standing: 'retrying' })
  sockets.stop()
})

test('an address that is not allowed is never called', async () => {
  const sockets = await startSockets(() => undefined)
  const world = createWorld()
  world.setLanes(['a', `http://[::1]:${sockets.port}/`], ['b', 'http://10.255.255.1/'])
  world.settle(5)
  await world.pass(20_000)
  expect(sockets.connections()).toBe(0)
  for (const id of ['a', 'b'])
    expect(world.totals(id)).toMatchObject({
      sent: 0,
      lastError: expect.stringContaining('SLUICE_OUTBOUND_ALLOW'),
    })
  sockets.stop()
})

test('a TLS certificate for another name is an outage that says so; nothing is sent', async () => {
  const received: string[] = []
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    tls: SELF_SIGNED,
    fetch: async (request) => {
      received.push(await request.text())
      return new Response()
    },
  })
  const world = createWorld()
  world.setLanes(['a', `https://localhost:${server.port}/`])
  world.settle(5)
  await world.pass(20_000)
  expect(received).toEqual([])
  expect(world.totals('a')).toMatchObject({
    sent: 0,
    failed: 0,
    standing: 'retrying',
    lastError: expect.stringContaining('TLS certificate'),
  })
  await server.stop(true)
})
