/**
 * Runs the commands of README.md and docs/*.md as a reader would: the `sh` blocks of a page one after the other in one
 * shell, in an empty folder, with `sluice` on the PATH. Port 4141 of the text stands for a free one, 4142 for a second.
 * `sh no-run` is not run. SLUICE_TEST_BINARY names a binary to run in place of the source.
 */
import { expect, test } from 'bun:test'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SOURCE } from '../cli/process.ts'
import { type Document, documents } from './markdown.ts'

const LIMIT_MS = 60_000
const AT_A_TIME = 2

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
      const { exitCode, output, refusals } = await resultOf(page)
      expect({ exitCode, output: exitCode === 0 ? '' : output }).toEqual({ exitCode: 0, output: '' })
      // curl ends with 0 for a refusal too: the page must name its status.
      const unnamed = refusals.filter((line) => !page.prose.includes(String(statusOf(line))))
      expect(unnamed).toEqual([])
    },
    LIMIT_MS,
  )
}

async function runPage(page: Document) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-docs-'))
  const programs = join(folder, '.programs')
  mkdirSync(programs)
  const binary = process.env['SLUICE_TEST_BINARY']
  const command = binary === undefined ? SOURCE : [binary]
  writeFileSync(join(programs, 'sluice'), `#!/bin/sh\nexec ${command.join(' ')} "$@"\n`)
  chmodSync(join(programs, 'sluice'), 0o755)
  const child = Bun.spawn(['bash', '-e', '-o', 'pipefail', '-c', await scriptOf(page)], {
    cwd: folder,
    env: { PATH: `${programs}:${process.env['PATH']}`, HOME: folder, SLUICE_DISCOVER: 'off', NO_COLOR: '1' },
    stdin: 'ignore',
    stdout: Bun.file(join(programs, 'output')),
    stderr: Bun.file(join(programs, 'output')),
    // A process group of its own: servers that the page leaves running end with it.
    detached: true,
  })
  const late = setTimeout(() => end(child.pid), LIMIT_MS - 5_000)
  const exitCode = await child.exited
  clearTimeout(late)
  end(child.pid)
  const output = readFileSync(join(programs, 'output'), 'utf8').slice(-4_000)
  const refusals = refusalsIn(folder)
  await rm(folder, { recursive: true, maxRetries: 5 })
  return { exitCode, output, refusals }
}

function end(group: number): void {
  try {
    process.kill(-group, 'SIGKILL')
  } catch {
    // All of them have ended.
  }
}

async function scriptOf({ blocks }: Document): Promise<string> {
  const [first, second] = [freePort(), freePort()]
  return blocks
    .filter(({ language }) => language === 'sh')
    .map(({ text }, index) => `echo "--- block ${index + 1}"\n${text}`)
    .join('\n')
    .replaceAll('4141', String(first))
    .replaceAll('4142', String(second))
}

function freePort(): number {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response() })
  const port = server.port ?? 0
  server.stop(true)
  return port
}

/** Lines of the servers' logs about requests that were refused or failed. */
function refusalsIn(folder: string): string[] {
  const logs = readdirSync(folder).filter((name) => name.endsWith('.log'))
  return logs
    .flatMap((name) => readFileSync(join(folder, name), 'utf8').split('\n'))
    .filter((line) => (statusOf(line) ?? 0) >= 400)
}

const statusOf = (line: string): number | undefined => {
  const [, status] = /"status":(\d{3})/.exec(line) ?? []
  return status === undefined ? undefined : Number(status)
}
