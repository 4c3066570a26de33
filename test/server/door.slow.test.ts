import { afterEach, expect, test } from 'bun:test'
import { connect } from 'node:net'
import { type Door, openDoor } from '../../src/server/door.ts'

const doors: Door[] = []
afterEach(async () => {
  for (const door of doors.splice(0)) await door.stop()
})

/** A door of a server that counts as many descriptors as the test says, of 1,000. */
function openCounted() {
  const state = { used: 100, changes: [] as boolean[], failures: 0 }
  const door = openDoor({
    listen: (port = 0) =>
      Bun.serve({
        hostname: '127.0.0.1',
        port,
        reusePort: false,
        async fetch(request, server) {
          if (request.url.endsWith('/slow')) await Bun.sleep(600)
          return new Response(server.requestIP(request)?.address)
        },
      }),
    descriptors: { limit: 1000, used: () => state.used },
    onChange: (isOpen) => state.changes.push(isOpen),
    onFailure: () => state.failures++,
  })
  doors.push(door)
  const ask = (path = '/'): Promise<string> =>
    fetch(`http://127.0.0.1:${door.port}${path}`, { headers: { connection: 'close' } }).then(
      (reply) => reply.text(),
      () => 'refused',
    )
  const changed = async (count: number): Promise<void> => {
    while (state.changes.length < count) await Bun.sleep(10)
  }
  return { state, door, ask, changed }
}

test('few free descriptors close the door, and running requests go on', async () => {
  const { state, door, ask, changed } = openCounted()
  const slow = ask('/slow')
  while (door.pendingRequests() === 0) await Bun.sleep(5)
  state.used = 890
  await changed(1)
  expect(await ask()).toBe('refused')
  expect(door.pendingRequests()).toBe(1)
  expect(await slow).toBe('127.0.0.1')
  state.used = 775
  await changed(2)
  expect(await ask()).toBe('127.0.0.1')
  expect(state).toMatchObject({ changes: [false, true], failures: 0 })
})

test('a count that stays just below the threshold does not keep the door closed for ever', async () => {
  const { state, ask, changed } = openCounted()
  state.used = 900
  await changed(1)
  state.used = 800
  await Bun.sleep(300)
  expect(state.changes).toEqual([false])
  await changed(2)
  expect(await ask()).toBe('127.0.0.1')
})

test('a port that another program took meanwhile is tried again', async () => {
  const { state, door, ask, changed } = openCounted()
  state.used = 900
  await changed(1)
  const thief = Bun.serve({
    hostname: '127.0.0.1',
    port: door.port,
    reusePort: false,
    fetch: () => new Response('mine'),
  })
  state.used = 100
  await Bun.sleep(300)
  expect(await ask()).toBe('mine')
  await thief.stop(true)
  await changed(2)
  expect(await ask()).toBe('127.0.0.1')
})

test('stopping ends the connections of before and after', async () => {
  const { state, door, changed } = openCounted()
  let closed = 0
  const open = (): void => {
    // The kernel hands a connection over with its first bytes.
    const socket = connect(door.port ?? 0, '127.0.0.1', () => socket.write('GET'))
    socket.on('close', () => closed++)
  }
  open()
  await Bun.sleep(50)
  state.used = 900
  await changed(1)
  state.used = 100
  await changed(2)
  open()
  await Bun.sleep(50)
  await door.stop()
  while (closed < 2) await Bun.sleep(10)
})
