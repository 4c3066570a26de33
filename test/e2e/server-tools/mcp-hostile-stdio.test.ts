/** Programs that mean harm, or are broken, as MCP servers that the gateway has started. */
import { afterAll, describe, expect, test } from 'bun:test'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { McpServer } from '../../../src/core/mcp.ts'
import { createMcpAccess } from '../../../src/tools/mcp/access.ts'

const script = join(import.meta.dir, '../../tools/mcp/hostile.child.ts')
const never = new AbortController().signal
const notes: string[] = []

function start(how = 'well') {
  const local: McpServer = {
    label: 'local',
    url: '',
    headers: {},
    allowedTools: null,
    process: {
      command: [process.execPath, script, how],
      env: { PATH: process.env['PATH'] ?? '' },
      secrets: [],
      folder: tmpdir(),
    },
  }
  let time = 0
  const note = (_: unknown, message: string) => notes.push(message)
  const access = createMcpAccess({
    servers: [local],
    now: () => (time += 100_000),
    pingMs: 50,
    graceMs: 50,
    log: { info: note, warn: note },
  })
  afterAll(() => access.close())
  const session = access.open('local')
  return {
    access,
    call: (name: string, signal = never) => session.call(name, {}, signal),
    failure: (name: string, signal = never) =>
      session.call(name, {}, signal).then(
        (text) => `no failure: ${text}`,
        (error) => String(error.message),
      ),
  }
}

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
async function untilDead(pid: number): Promise<void> {
  while (isAlive(pid)) await Bun.sleep(5)
}

describe.each(['well', 'stubborn'])('a program that takes SIGTERM %s', (how) => {
  test('and freezes in a call is ended, and the next call starts another', async () => {
    const { call, failure } = start(how)
    const pid = Number(await call('pid'))
    const stop = new AbortController()
    const frozen = failure('freeze', stop.signal)
    const waiting = failure('mute')
    // The program has stopped once it no longer runs.
    while ((await Bun.file(`/proc/${pid}/stat`).text()).split(' ')[2] !== 'T') await Bun.sleep(5)
    stop.abort(new Error('the time of the call is over'))
    expect(await frozen).toBe('the time of the call is over')
    expect(await waiting).toBe('does not answer any more, and was ended')
    await untilDead(pid)
    expect(Number(await call('pid'))).not.toBe(pid)
  })

  test('is gone once the access is closed', async () => {
    const { access, call } = start(how)
    const pid = Number(await call('pid'))
    await access.close()
    expect(isAlive(pid)).toBe(false)
  })
})

test('what a program started ends with it, although it holds its output open', async () => {
  const { call, failure } = start()
  const started = Number(await call('fork'))
  expect(isAlive(started)).toBe(true)
  expect(await failure('exit')).toBe('ended with exit code 0')
  await untilDead(started)
})

test.each(['stdout', 'junk', 'questions'])('a flood of %s ends the program', async (how) => {
  const { call, failure } = start()
  const pid = Number(await call('pid'))
  expect(await failure(how)).toBe('writes too much without being asked, and was ended')
  await untilDead(pid)
})

test('of a flood of lines a hundred are logged, and calls go on', async () => {
  const { call, access } = start()
  notes.length = 0
  expect(await call('stderr')).toBe('shouting')
  for (let i = 0; i < 5; i++) expect(await call('ids')).toBe('right')
  while (notes.length < 101) await Bun.sleep(5)
  for (let i = 0; i < 5; i++) expect(await call('ids')).toBe('right')
  await access.close()
  expect(notes.filter((note) => note === 'MCP server')).toHaveLength(100)
  expect(notes.filter((note) => note.startsWith('further lines'))).toHaveLength(1)
})

test('answers with other ids, and a second answer, are left out', async () => {
  const { call } = start()
  expect(await call('ids')).toBe('right')
  expect(Number(await call('pid'))).toBeGreaterThan(0)
})

test('JSON of 9,000 levels is a line that is not JSON', async () => {
  const { call } = start()
  expect(await call('deep')).toBe('flat')
})

test('a program that never says hello holds no request up, and is ended with the gateway', async () => {
  const { access, failure } = start('mute')
  const stop = new AbortController()
  const waiting = Promise.race([
    failure('pid', stop.signal),
    new Promise((resolve) => stop.signal.addEventListener('abort', () => resolve('aborted'))),
  ])
  setImmediate(() => stop.abort())
  expect(await waiting).toBe('aborted')
  await access.close()
})
