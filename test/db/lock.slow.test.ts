import { afterEach, beforeEach, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lockFolder } from '../../src/db/lock.ts'

let folder: string
const started: { kill(signal: 'SIGKILL'): void }[] = []

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sluice-lock-'))
})
afterEach(() => {
  for (const child of started.splice(0)) child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
})

/** Another process that tries to take the folder; answers its first line. */
async function contend() {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, 'lock-holder.child.ts'), folder], {
    stdout: 'pipe',
  })
  started.push(child)
  const reader = child.stdout.getReader()
  const decoder = new TextDecoder()
  let printed = ''
  while (!printed.includes('\n')) {
    const { done, value } = await reader.read()
    if (done) break
    printed += decoder.decode(value, { stream: true })
  }
  return { child, printed: printed.trim() }
}

test('a second process is refused within two seconds, in a sentence that names the holder', async () => {
  const { child, printed } = await contend()
  expect(printed).toBe('held')
  const refused = await contend()
  expect(refused.printed).toContain(`The data folder ${folder} is in use by process ${child.pid}`)
  await refused.child.exited
  const before = performance.now()
  expect(() => lockFolder(folder)).toThrow(`process ${child.pid}`)
  expect(performance.now() - before).toBeLessThan(2000)
})

test('a lock dies with its process, however it dies', async () => {
  for (let kill = 0; kill < 3; kill++) {
    const { child, printed } = await contend()
    expect(printed).toBe('held')
    child.kill('SIGKILL')
    await child.exited
  }
  lockFolder(folder)()
})

test('a released folder is free, and its holder is forgotten', async () => {
  const release = lockFolder(folder)
  expect(readFileSync(join(folder, 'lock.pid'), 'utf8')).toBe(`${process.pid}\n`)
  expect(() => lockFolder(folder)).toThrow(`process ${process.pid}`)
  expect((await contend()).printed).toContain(`process ${process.pid}`)
  release()
  release()
  expect((await contend()).printed).toBe('held')
})
