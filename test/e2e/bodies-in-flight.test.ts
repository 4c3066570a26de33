import { afterAll, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { BOOTSTRAP, inFolder, startServer } from '../cli/process.ts'

/** Fifty large bodies at once stay within the memory that bodies of running requests may take. */

const MB = 1_000_000
const BODIES = 50
const BUDGET_MB = 128
/** Twice the budget and what the engine keeps for a while. Without the budget it was 1,800. */
const MOST_MORE_MB = 450

const answer = {
  id: 'up',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi' } }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
}
const mayAnswer = Promise.withResolvers<void>()
const upstream = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const isLarge = Number(request.headers.get('content-length')) > MB
    for await (const _ of request.body ?? []);
    if (isLarge) await mayAnswer.promise
    return Response.json(answer)
  },
})
afterAll(() => upstream.stop(true))

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024

test.skipIf(process.platform !== 'linux')(
  `${BODIES} bodies of 19 MB at once: the memory stays bounded, and small requests are answered`,
  async () => {
    await inFolder(async (folder) => {
      const pricing = { prompt: '0', completion: '0' }
      const base_url = `http://127.0.0.1:${upstream.port}/v1`
      await Bun.write(
        join(folder, 'sluice.yaml'),
        JSON.stringify({ providers: [{ slug: 'lab', base_url, models: [{ id: 'm', pricing }] }] }),
      )
      const server = await startServer(join(folder, 'data'), {
        cwd: folder,
        env: { ...BOOTSTRAP, SLUICE_BODIES_IN_FLIGHT_MB: String(BUDGET_MB) },
      })
      const send = async (content: string, key = BOOTSTRAP.SLUICE_API_KEY): Promise<Response> => {
        const reply = await fetch(`${server.url}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }),
        })
        await reply.bytes()
        return reply
      }
      const before = residentMb(server.pid)
      let peak = 0
      const watching = setInterval(() => {
        peak = Math.max(peak, residentMb(server.pid))
      }, 10)
      const large = 'word '.repeat(3_800_000)
      let refused = 0
      const replies = Array.from({ length: BODIES }, async () => {
        const reply = await send(large)
        if (reply.status === 503) refused += 1
        return reply
      })
      // One is at the provider, and stays there.
      while (refused < BODIES - 1) await Bun.sleep(10)
      expect((await send('Hello')).status).toBe(200)
      expect((await send(large, 'x'.repeat(40))).status).toBe(401)
      mayAnswer.resolve()
      const all = await Promise.all(replies)
      clearInterval(watching)
      expect(all.map(({ status }) => status).toSorted()).toEqual([200, ...Array(BODIES - 1).fill(503)])
      for (const reply of all)
        if (reply.status === 503) expect(Number(reply.headers.get('retry-after'))).toBeGreaterThan(0)
      expect(peak - before).toBeLessThan(MOST_MORE_MB)
      // What was held is free again.
      expect((await send(large)).status).toBe(200)
      expect(await server.stop()).toBe(0)
    })
  },
  30_000,
)
