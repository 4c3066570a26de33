import { afterEach, expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { BOOTSTRAP, inFolder, killServers, SOURCE, startServer } from '../cli/process.ts'

afterEach(killServers)

const LIMIT = 96
const CONNECTIONS = 200

/** A shell sets the limit and becomes the server, so that the process id is the server's. */
const command = ['bash', '-c', `ulimit -n ${LIMIT} && exec "$0" "$@"`, ...SOURCE]

test.skipIf(process.platform !== 'linux')(
  'a server without a free descriptor does not end, and serves again once there are some',
  async () => {
    await inFolder(async (folder) => {
      const server = await startServer(join(folder, 'data'), { env: BOOTSTRAP, command })
      const descriptors = (): number => readdirSync(`/proc/${server.pid}/fd`).length
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
      // Bun 1.4.5 tries to accept again and again meanwhile, with up to a whole core.
      await Bun.sleep(1_000)
      for (const socket of sockets) socket.destroy()
      while (descriptors() > LIMIT / 2) await Bun.sleep(20)
      expect(await chat()).toBe(200)
      expect(await server.stop()).toBe(0)
    })
  },
  20_000,
)
