/** The binary that clients call, built for the tests of one file, with its provider. */
import { afterAll, beforeAll, expect } from 'bun:test'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { BOOTSTRAP, killServers, type Served, startServer } from '../cli/process.ts'
import { SHAPES } from '../e2e/thinking/shapes.ts'
import { removeVerified } from '../verified.ts'
import { startUpstream, type Upstream } from './upstream.ts'

export const key = BOOTSTRAP.SLUICE_API_KEY
export const HI = [{ role: 'user' as const, content: 'Hello' }]
/** The model of each wire format, by the name of its shape. */
export const MODELS = SHAPES.map(
  ({ name, model }) => [name, model.includes('/') ? 'chat-lab' : model] as const,
)

export function serveBinary(): { readonly url: string; readonly upstream: Upstream } {
  const root = mkdtempSync(join(tmpdir(), 'sluice-clients-'))
  let server: Served
  let upstream: Upstream
  beforeAll(async () => {
    const build = Bun.spawn(
      [process.execPath, join(import.meta.dir, '../../build.ts'), '--out', join(root, 'out')],
      { stdout: 'ignore', stderr: 'inherit' },
    )
    if ((await build.exited) !== 0) throw new Error('the build failed')
    upstream = startUpstream()
    const cwd = join(root, 'cwd')
    mkdirSync(cwd)
    writeFileSync(join(cwd, 'sluice.yaml'), JSON.stringify(upstream.settings))
    const command = [join(root, 'out', process.platform === 'win32' ? 'sluice.exe' : 'sluice')]
    server = await startServer(join(root, 'data'), { command, cwd, env: BOOTSTRAP })
  }, 120_000)
  afterAll(async () => {
    expect(await server.stop()).toBe(0)
    killServers()
    await upstream.stop()
    removeVerified(root)
  })
  return {
    get url() {
      return server.url
    },
    get upstream() {
      return upstream
    },
  }
}
