import { afterEach, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { BOOTSTRAP, inFolder, killServers, SOURCE, startServer } from '../cli/process.ts'

afterEach(killServers)

const LIMIT = 96
const CONNECTIONS = 200

/** A shell sets the limit and becomes the server, so that the process id is the server's. */
const command = ['bash', '-c', `ulimit -n ${LIMIT} && exec "$0" "$@"`, ...SOURCE]

test.skipIf(process.platform !== 'linux')(
  'a server without a free descriptor neither ends nor spins, and serves again once there are some',
  async () => {
    await inFolder(async (folder) => {
      const server = await startServer(join(folder, 'data'), { env: BOOTSTRAP, command })
      const descriptors = (): number => readdirSync(`/proc/${server.pid}/fd`).length
      const cpuTicks = (): number => {
        const fields = readFileSync(`/proc/${server.pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
        return Number(fields[11]) + Number(fields[12])
      }
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
        const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
        socket.on('error', () => undefined)
        return socket
      })
      while (descriptors() < LIMIT - 8) await Bun.sleep(20)
      const [ticks, at] = [cpuTicks(), performance.now()]
      await Bun.sleep(2_000)
      // A hundred ticks are a second: a loop that spins takes nearly all of one core.
      const share = (cpuTicks() - ticks) / 100 / ((performance.now() - at) / 1000)
      expect(share).toBeLessThan(0.8)
      for (const socket of sockets) socket.destroy()
      while (descriptors() > LIMIT / 2) await Bun.sleep(20)
      expect(await chat()).toBe(200)
      expect(await server.stop()).toBe(0)
    })
  },
  20_000,
)
