import { afterEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { BOOTSTRAP, inFolder, killServers, SOURCE, startServer } from '../cli/process.ts'

afterEach(killServers)

const LIMIT = 96
const CONNECTIONS = 200
const TICKS_PER_SECOND = 100

/** A shell sets the limit and becomes the server, so that the process id is the server's. */
const command = ['bash', '-c', `ulimit -n ${LIMIT} && exec "$0" "$@"`, ...SOURCE]

/** Of a process, on all its threads. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  return ((Number(fields[11]) + Number(fields[12])) * 1000) / TICKS_PER_SECOND
}

const isRefused = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.on('connect', () => socket.destroy())
    socket.on('error', () => resolve(true))
    socket.on('close', () => resolve(false))
  })

test.skipIf(process.platform !== 'linux')(
  'a server without a free descriptor refuses connections at rest, and serves again once there are some',
  async () => {
    await inFolder(async (folder) => {
      const log = join(folder, 'log')
      const server = await startServer(join(folder, 'data'), { env: BOOTSTRAP, command, log })
      const descriptors = (): number => readdirSync(`/proc/${server.pid}/fd`).length
      const port = Number(new URL(server.url).port)
      const chat = async (): Promise<number> => {
        const reply = await fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${BOOTSTRAP.SLUICE_API_KEY}`, connection: 'close' },
          body: JSON.stringify({ model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }),
        })
        await reply.text()
        return reply.status
      }
      expect(await chat()).toBe(200)
      const sockets = Array.from({ length: CONNECTIONS }, (): Socket => {
        const socket = connect(port, '127.0.0.1')
        socket.on('error', () => undefined)
        return socket
      })
      while (!(await isRefused(port))) await Bun.sleep(20)
      expect(readFileSync(log, 'utf8')).toContain('the limit of open files is low')
      // A server that tried to accept all the while would use about 2,000.
      const before = cpuMs(server.pid)
      await Bun.sleep(2_000)
      expect(cpuMs(server.pid) - before).toBeLessThan(500)
      expect(readFileSync(log, 'utf8')).toContain('new connections are refused')
      for (const socket of sockets) socket.destroy()
      while (descriptors() > LIMIT / 2) await Bun.sleep(20)
      while (await isRefused(port)) await Bun.sleep(20)
      expect(await chat()).toBe(200)
      expect(await server.stop()).toBe(0)
    })
  },
  20_000,
)

test.skipIf(process.platform !== 'linux')(
  'the last descriptors are not given to connections: running requests need them',
  async () => {
    await inFolder(async (folder) => {
      const server = await startServer(join(folder, 'data'), { env: BOOTSTRAP, command })
      const port = Number(new URL(server.url).port)
      const sockets: Socket[] = []
      let most = 0
      while (!(await isRefused(port))) {
        const socket = connect(port, '127.0.0.1', () => socket.write('GET'))
        socket.on('error', () => undefined)
        sockets.push(socket)
        await Bun.sleep(50)
        most = Math.max(most, readdirSync(`/proc/${server.pid}/fd`).length)
      }
      expect(most).toBeGreaterThan(LIMIT / 2)
      expect(most).toBeLessThan(LIMIT - 2)
      for (const socket of sockets) socket.destroy()
      expect(await server.stop()).toBe(0)
    })
  },
  20_000,
)
