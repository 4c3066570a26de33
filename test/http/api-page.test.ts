import { describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { call } from '../scenario.ts'

const gateway = await gatewayOfFile()
const handler = createApp(gateway.deps)

describe('/docs/api', () => {
  const assets: [path: string, type: string, holds: string][] = [
    ['/docs/api', 'text/html; charset=utf-8', '<div id="swagger-ui">'],
    ['/docs/start.js', 'text/javascript; charset=utf-8', 'url: "/openapi.json"'],
    ['/docs/swagger-ui.js', 'text/javascript; charset=utf-8', 'SwaggerUIBundle'],
    ['/docs/swagger-ui.css', 'text/css; charset=utf-8', '.swagger-ui'],
  ]
  for (const [path, type, holds] of assets) {
    test(`${path} is served by the program itself`, async () => {
      const reply = await call(handler, { path })
      expect(reply).toMatchObject({ status: 200 })
      expect(reply.headers.get('content-type')).toBe(type)
      expect(reply.headers.get('content-security-policy')).toStartWith(
        "default-src 'none'; script-src 'self'",
      )
      expect(reply.text).toContain(holds)
    })
  }

  test('has no external address', async () => {
    for (const path of ['/docs/api', '/docs/start.js']) {
      expect((await call(handler, { path })).text).not.toMatch(/(?:https?:)?\/\/[a-z]/)
    }
  })
})
