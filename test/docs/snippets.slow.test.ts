import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { API_KEY, type Gateway, startGateway } from '../gateway.ts'

const root = join(import.meta.dir, '../..')
const PAGES = ['README.md', 'docs/connect-your-tool.md', 'docs/stored-responses-and-files.md']

let gateway: Gateway
beforeAll(async () => {
  gateway = await startGateway({ listens: true })
})
afterAll(() => gateway.stop())

async function snippetsOf(page: string): Promise<string[]> {
  const text = await Bun.file(join(root, page)).text()
  return [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code)
}

for (const page of PAGES) {
  test(`the TypeScript snippets of ${page} run as they stand`, async () => {
    const snippets = await snippetsOf(page)
    expect(snippets.length).toBeGreaterThan(0)
    for (const code of snippets) {
      // Run from the root, where the clients are installed.
      const child = Bun.spawn(
        [process.execPath, '-e', code.replaceAll('http://127.0.0.1:4141', gateway.url)],
        { cwd: root, env: { ...process.env, SLUICE_API_KEY: API_KEY }, stdout: 'pipe', stderr: 'pipe' },
      )
      const [exitCode, complaints] = await Promise.all([child.exited, new Response(child.stderr).text()])
      expect([exitCode, exitCode === 0 ? '' : complaints]).toEqual([0, ''])
    }
  }, 30_000)
}
