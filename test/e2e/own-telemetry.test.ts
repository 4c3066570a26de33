import { expect, test } from 'bun:test'
import { startVendor } from '../delivery/vendor.ts'
import { unary } from '../upstream.ts'
import { chatBody, startForExport } from './export-setup.ts'

const collector = startVendor()
const { gateway, upstream } = await startForExport({
  delivers: true,
  environment: {
    SLUICE_OUTBOUND_ALLOW: '10.1.2.3',
    SLUICE_OTLP_ENDPOINT: collector.url,
    SLUICE_OTLP_HEADERS: 'x-team=ops',
  },
})

test('spans of every workspace go to the collector of the operator, without content, before any destination exists', async () => {
  upstream.on('lab-tiny', unary('canary-of-the-answer'))
  const messages = [{ role: 'user', content: 'canary-of-the-prompt' }]
  const reply = await gateway.call('/chat/completions', chatBody({ messages }))
  expect(await reply.text()).toContain('canary-of-the-answer')
  const end = performance.now() + 20_000
  while (collector.seen.length === 0 && performance.now() < end) await Bun.sleep(20)
  const [seen] = collector.seen
  expect(seen?.path).toBe('/v1/traces')
  expect(seen?.headers.get('x-team')).toBe('ops')
  expect(seen?.ids).toEqual([reply.headers.get('x-generation-id') ?? ''])
  expect(seen?.text).not.toContain('canary')
})

test('its host is not open to destinations of workspaces', async () => {
  const reply = await gateway.manage('POST', '/observability/destinations', {
    name: 'inside',
    type: 'webhook',
    config: { url: collector.url },
  })
  expect([reply.status, await reply.text()]).toEqual([400, expect.stringContaining('SLUICE_OUTBOUND_ALLOW')])
})
