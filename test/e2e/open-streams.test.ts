import { expect, test } from 'bun:test'

/** What a stream holds while its provider is silent: not the text that was sent already. */

const STREAMS = 20

test('an open stream does not hold the text that was sent', async () => {
  const child = Bun.spawn([process.execPath, `${import.meta.dir}/open-streams.child.ts`, String(STREAMS)], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const report: { open: number; held: number } = JSON.parse(await new Response(child.stdout).text())
  expect(await child.exited).toBe(0)
  expect(report.open).toBe(STREAMS)
  // A few may still be found on the stack.
  expect(report.held).toBeLessThan(STREAMS / 4)
}, 30_000)
