/** Finds a binary, or builds the one of a commit. */
import { existsSync, mkdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '../..')

async function run(command: string[], cwd: string): Promise<void> {
  const child = Bun.spawn(command, { cwd, stdout: 'ignore', stderr: 'inherit' })
  if ((await child.exited) !== 0) throw new Error(`${command.join(' ')} failed`)
}

/** The path of the binary that `name` stands for: a file, or a commit, which is built once and stays in the cache. */
export async function binaryOf(name: string): Promise<string> {
  if (existsSync(name)) return resolve(name)
  const cache = join(process.env['XDG_CACHE_HOME'] ?? tmpdir(), 'sluice-builds', name)
  const binary = join(cache, 'dist/sluice')
  if (existsSync(binary)) return binary
  mkdirSync(cache, { recursive: true })
  await run(['git', 'worktree', 'add', '--force', '--detach', cache, name], root)
  await run([process.execPath, 'install', '--frozen-lockfile', '--ignore-scripts', '--silent'], cache)
  await run([process.execPath, 'build.ts'], cache)
  await run(['git', 'worktree', 'prune'], root)
  return binary
}
