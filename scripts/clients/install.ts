import { cpSync, existsSync, mkdirSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { run } from './child.ts'
import type { Client, Source } from './client.ts'

export const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'sluice-clients')
export const programs = join(import.meta.dir, 'programs')

const INSTALL_LIMIT_MS = 30 * 60_000
const UV = 'uv==0.13.9'

/** Registries and toolchains need the real environment of the user; clients never see it. */
const environment = (): Record<string, string> =>
  Object.fromEntries(Object.entries(process.env).filter((entry): entry is [string, string] => !!entry[1]))

async function must(
  command: readonly string[],
  cwd: string,
  env: Record<string, string> = {},
): Promise<void> {
  const { code, stdout, stderr, isTimedOut } = await run({
    command,
    cwd,
    env: { ...environment(), ...env },
    limitMs: INSTALL_LIMIT_MS,
  })
  if (code === 0) return
  const words = `${stdout}\n${stderr}`.trim().split('\n').slice(-4).join(' ').slice(-400)
  throw new Error(isTimedOut ? 'the installation took too long' : words)
}

/** Installs a client unless this very set of versions is there. Rejects with the reason. */
export async function install({ folder, source }: Client, isForced: boolean): Promise<void> {
  const target = join(cache, folder)
  const stamp = join(target, '.installed')
  const wanted = JSON.stringify(source)
  const isThere = existsSync(stamp) && (await Bun.file(stamp).text()) === wanted
  if (isThere && !isForced) return
  rmSync(target, { recursive: true, force: true })
  mkdirSync(target, { recursive: true })
  await installers[source.from](target, source)
  await Bun.write(stamp, wanted)
}

const installers: Readonly<Record<Source['from'], (target: string, source: Source) => Promise<void>>> = {
  async npm(target, source) {
    if (source.from !== 'npm') return
    await Bun.write(join(target, 'package.json'), '{ "private": true, "type": "module" }')
    // npm, because some agents fetch their executable in an install script.
    await must(['npm', 'install', '--no-fund', '--no-audit', '--save-exact', ...source.packages], target)
  },
  async pypi(target, source) {
    if (source.from !== 'pypi') return
    const uv = await uvProgram()
    const venv = join(target, 'venv')
    await must([uv, 'venv', '--quiet', '--python', 'python3', venv], target)
    const overrides = join(target, 'overrides.txt')
    await Bun.write(
      overrides,
      (source.without ?? []).map((name) => `${name} ; sys_platform == 'never'\n`).join(''),
    )
    const python = join(venv, 'bin/python')
    const options = ['--quiet', '--python', python, '--override', overrides]
    await must([uv, 'pip', 'install', ...options, ...source.packages], target)
  },
  async go(target, source) {
    if (source.from !== 'go') return
    cpSync(join(programs, 'go', source.program), target, { recursive: true })
    const env = { GOPATH: join(cache, 'gopath'), GOFLAGS: '-mod=mod -modcacherw', GOTOOLCHAIN: 'local' }
    await must(['go', 'mod', 'init', 'client'], target, env)
    await must(['go', 'get', source.module], target, env)
    await must(['go', 'build', '-o', 'client', '.'], target, env)
  },
  async cargo(target, source) {
    if (source.from !== 'cargo') return
    cpSync(join(programs, 'rust', source.program), target, { recursive: true })
    await must(['cargo', 'build', '--quiet'], target, { CARGO_HOME: join(cache, 'cargo') })
  },
}

async function uvProgram(): Promise<string> {
  const folder = join(cache, 'uv')
  const program = join(folder, 'bin/uv')
  if (existsSync(program)) return program
  mkdirSync(cache, { recursive: true })
  await must(['python3', '-m', 'venv', folder], cache)
  await must([join(folder, 'bin/pip'), 'install', '--quiet', UV], cache)
  return program
}

/** The version that the table names, from the first package of the source. */
export function versionOf(source: Source): string {
  if (source.from === 'go') return source.module.slice(source.module.lastIndexOf('@') + 1)
  if (source.from === 'cargo') return source.crate.slice(source.crate.lastIndexOf('@') + 1)
  const [first = ''] = source.packages
  const separator = source.from === 'npm' ? '@' : '=='
  return first.slice(first.lastIndexOf(separator) + separator.length)
}
