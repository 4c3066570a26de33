import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { watchLoop } from '../../bench/hostile/loop-watch.ts'
import { type HostileServer, startHostile } from '../../bench/hostile/server.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-hostile-'))
let server: HostileServer
beforeAll(async () => {
  server = await startHostile(folder, 0.01)
})
afterAll(async () => {
  await server.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Holds the thread for this many ms of its own processor time. */
function work(ms: number): void {
  const used = () => {
    // Only their sum is exact: the kernel divides it by samples.
    const { user, system } = process.threadCpuUsage()
    return user + system
  }
  const end = used() + ms * 1000
  while (used() < end) Math.sqrt(end)
}

test('the longest stop is measured, in processor time, and each reading starts again', async () => {
  const watch = watchLoop()
  await watch.look()
  work(60)
  await Bun.sleep(5)
  work(20)
  const stop = await watch.look()
  expect(stop.cpuMs).toBeGreaterThanOrEqual(60)
  expect(stop.cpuMs).toBeLessThan(80)
  expect(stop.wallMs).toBeGreaterThanOrEqual(stop.cpuMs)
  expect(stop.threadMs).toBeGreaterThanOrEqual(80)
  await Bun.sleep(5)
  expect((await watch.look()).cpuMs).toBeLessThan(20)
  watch.stop()
})

test('microtasks do not end a stop', async () => {
  const watch = watchLoop()
  await watch.look()
  for (let turn = 0; turn < 6; turn++) {
    work(10)
    await Promise.resolve()
  }
  expect((await watch.look()).cpuMs).toBeGreaterThanOrEqual(60)
  watch.stop()
})

test('the gateway is watched in a process of its own', async () => {
  const plain = { name: 'plain', path: '/api/v1/chat/completions' }
  const body = () => '{"model":"chat-plain","messages":[{"role":"user","content":"hi"}]}'
  const outcome = await server.send({ ...plain, body }, 1)
  expect(outcome).toMatchObject({ status: 200, stop: { processMs: expect.any(Number) } })
  expect(outcome.stop.cpuMs).toBeGreaterThan(0)
  expect(outcome.text).toContain('"content":"hi"')
})
