import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { createApp } from '../../src/app.ts'
import { type Gateway, MANAGEMENT_KEY, startGateway } from '../gateway.ts'

let gateway: Gateway
const log: string[] = []
beforeAll(async () => {
  gateway = await startGateway({ log: (line) => log.push(line) })
})
afterAll(() => gateway.stop())

const administer = (path: string, headers: Record<string, string> = {}): Request =>
  new Request(`http://localhost${path}`, {
    headers: { host: 'localhost', authorization: `Bearer ${MANAGEMENT_KEY}`, ...headers },
  })

test('requests that come together before administration is loaded are all answered', async () => {
  const app = createApp(gateway.deps)
  const paths = ['/api/v1/keys', '/v1/workspaces', '/openapi.json', '/docs', '/', '/api/v1/models']
  const replies = await Promise.all(paths.map((path) => app(administer(path))))
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 302, 200])
})

test('a load that fails is a 500 with its cause in the log, and the next request tries again', async () => {
  let isBroken = true
  const app = createApp({
    ...gateway.deps,
    get refresh() {
      if (isBroken) throw new Error('half of the program is gone')
      return gateway.deps.refresh
    },
  })
  const failed = await app(administer('/api/v1/keys'))
  expect(failed.status).toBe(500)
  expect(await failed.text()).not.toContain('half of the program')
  expect(log.join('')).toContain('half of the program is gone')
  isBroken = false
  expect((await app(administer('/api/v1/keys'))).status).toBe(200)
})

test('the start evaluates no module of administration', async () => {
  const script = `
    await import(${JSON.stringify(join(import.meta.dir, '../../src/server/serve.ts'))})
    console.log(JSON.stringify(Object.keys(require.cache)))
  `
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' })
  const loaded: string[] = JSON.parse(await new Response(child.stdout).text())
  expect(loaded.filter((file) => file.endsWith('src/server/serve.ts'))).toHaveLength(1)
  const early = loaded.filter((file) => /\/admin\/.*routes\.ts$|\/@elysiajs\//.test(file))
  expect(early).toEqual([])
})
