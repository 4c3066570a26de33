import { expect, test } from 'bun:test'
import { CHUNKED_HEAD, chunk, reply, scriptedServer } from './scripted.ts'

const STREAMS = 600

test('600 stalled streams of one provider do not slow another one', async () => {
  const stalled = await scriptedServer((socket) => socket.write(CHUNKED_HEAD + chunk('hello')))
  const working = await scriptedServer((socket) => socket.write(reply('hello')))
  const child = Bun.spawn(
    [process.execPath, `${import.meta.dir}/isolation.child.ts`, stalled.url, working.url, String(STREAMS)],
    { env: { ...process.env, BUN_CONFIG_MAX_HTTP_REQUESTS: '4096' }, stdout: 'pipe', stderr: 'inherit' },
  )
  const report: unknown = JSON.parse(await new Response(child.stdout).text())
  expect(await child.exited).toBe(0)
  stalled.stop()
  working.stop()
  expect(report).toMatchObject({
    open: STREAMS,
    inFlight: STREAMS,
    answered: 100,
    oneMore: expect.stringContaining('upstream capacity: all 600 places of stalled are taken'),
  })
  // Alone, a call takes about a millisecond; behind the stalled streams it would wait for the 3 s of its clock.
  expect(slowestOf(report)).toBeLessThan(1000)
})

const slowestOf = (report: unknown): number =>
  typeof report === 'object' && report !== null && 'slowestMs' in report
    ? Number(report.slowestMs)
    : Number.NaN
