import { expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'

const src = join(import.meta.dir, '../src')

test('loading every module prints nothing, leaves nothing open and writes no file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-import-'))
  const modules = [...new Glob('**/*.ts').scanSync(src)]
    // Entry points of the process and of its threads do what they are for.
    .filter((file) => file !== 'main.ts' && !file.endsWith('/worker.ts') && !file.endsWith('.d.ts'))
    .map((file) => join(src, file))
  const child = Bun.spawn(
    [process.execPath, '-e', `for (const module of ${JSON.stringify(modules)}) await import(module)`],
    {
      cwd: folder,
      stdout: 'pipe',
      stderr: 'pipe',
    },
  )
  const [stdout, stderr, exitCode] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  const written = readdirSync(folder)
  rmSync(folder, { recursive: true })
  // The child ends by itself only when no socket, file watcher or clock holds it.
  expect({ stdout, stderr, exitCode, written }).toEqual({
    stdout: '',
    stderr: '',
    exitCode: 0,
    written: [],
  })
})
