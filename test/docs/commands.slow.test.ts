/**
 * Runs the commands of README.md and docs/*.md as a reader would: the `sh` blocks of a page one after the other in one
 * shell, in an empty folder, with `sluice` on the PATH. Each port 414x of the text stands for a free one. A comment in
 * the block names the status of a request that is refused. `sh no-run` is not run. SLUICE_TEST_BINARY names a binary to
 * run; otherwise one is built: it starts in a third of the source's time, and a page starts up to eight.
 */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, symlinkSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Document, documents } from './markdown.ts'

const LIMIT_MS = 60_000
const AT_A_TIME = 2

const root = join(import.meta.dir, '../..')
const built =
  process.env['SLUICE_TEST_BINARY'] === undefined ? mkdtempSync(join(tmpdir(), 'sluice-built-')) : null
const binary = process.env['SLUICE_TEST_BINARY'] ?? join(built ?? '', 'sluice')
beforeAll(async () => {
  if (built === null) return
  const building = Bun.spawn([process.execPath, 'build.ts', '--out', built], { cwd: root, stdout: 'ignore' })
  expect(await building.exited).toBe(0)
}, LIMIT_MS)
afterAll(() => built === null || rm(built, { recursive: true }))

const pages = documents.filter(
  ({ file, blocks }) =>
    /^(README|docs\/[a-z-]+)\.md$/.test(file) && blocks.some(({ language }) => language === 'sh'),
)

// Pages mostly wait for servers to start, so two run at a time. Each has ports and a folder of its own.
const runs = new Map<Document, ReturnType<typeof runPage>>()
function resultOf(page: Document): ReturnType<typeof runPage> {
  const at = pages.indexOf(page)
  for (const next of pages.slice(at, at + AT_A_TIME)) if (!runs.has(next)) runs.set(next, runPage(next))
  return runs.get(page) ?? runPage(page)
}

for (const page of pages) {
  test(
    `the commands of ${page.file} run`,
    async () => {
      const { exitCode, output, refused } = await resultOf(page)
      expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
      // curl ends with 0 for a refusal too.
      expect(refused).toEqual(statusesIn(commandsOf(page), /^# .*\b([45]\d\d)\b/gm))
    },
    LIMIT_MS,
  )
}

async function runPage(page: Document) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  const programs = join(folder, '.programs')
  mkdirSync(programs)
  symlinkSync(binary, join(programs, 'sluice'))
  const child = Bun.spawn(['bash', '-e', '-o', 'pipefail', '-c', scriptOf(page)], {
    cwd: folder,
    env: { PATH: `${programs}:${process.env['PATH']}`, HOME: folder, SLUICE_DISCOVER: 'off', NO_COLOR: '1' },
    stdin: 'ignore',
    stdout: Bun.file(join(programs, 'output')),
    stderr: Bun.file(join(programs, 'output')),
    // A process group of its own, for its servers.
    detached: true,
  })
  const late = setTimeout(() => signal(child.pid, 'SIGKILL'), LIMIT_MS - 5_000)
  const exitCode = await child.exited
  // Servers that the page leaves running write their last log lines before they end.
  signal(child.pid, 'SIGTERM')
  while (signal(child.pid, 0)) await Bun.sleep(20)
  clearTimeout(late)
  const output = readFileSync(join(programs, 'output'), 'utf8').slice(-4_000)
  const refused = refusedIn(folder)
  await rm(folder, { recursive: true, maxRetries: 5 })
  return { exitCode, output, refused }
}

/** False if all processes of the group have ended. */
function signal(group: number, name: 'SIGTERM' | 'SIGKILL' | 0): boolean {
  try {
    return process.kill(-group, name)
  } catch {
    return false
  }
}

function scriptOf(page: Document): string {
  const ports = new Map<string, number>()
  return commandsOf(page).replaceAll(/\b414\d\b/g, (port) => {
    const free = ports.get(port) ?? freePort()
    ports.set(port, free)
    return String(free)
  })
}

const commandsOf = ({ blocks }: Document): string =>
  blocks
    .filter(({ language }) => language === 'sh')
    .map(({ text }, index) => `echo "--- block ${index + 1}"\n${text}`)
    .join('\n')

function freePort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = server.port ?? 0
  server.stop(true)
  return port
}

/** The statuses of requests that the servers of a page refused, by their logs. */
function refusedIn(folder: string): string[] {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
  const text = logs.map((name) => readFileSync(join(folder, name), 'utf8')).join('\n')
  return statusesIn(text, /"status":([45]\d\d)/g)
}

const statusesIn = (text: string, pattern: RegExp): string[] =>
  [...new Set([...text.matchAll(pattern)].map(([, status = '']) => status))].sort()
