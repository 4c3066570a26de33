/** Content filters and what tools find, in every dialect, streamed and not: neither the model nor the caller sees it. */
import { afterAll, expect, test } from 'bun:test'
import { CALLERS } from '../../plugins/callers.ts'
import { html, startSite } from '../../tools/web-fetch/page-server.ts'
import { KEY_OF_ENGINE, startEngines } from '../../tools/web-search/engine-server.ts'
import { calls, says, startTools } from './setup.ts'

const engines = startEngines()
const site = startSite({ '/page': () => html('<title>About falcon</title><p>The falcon flies.</p>') })
afterAll(() => {
  engines.stop()
  site.stop()
})
const { upstream, gateway } = await startTools(
  {
    SLUICE_EXA_API_KEY: KEY_OF_ENGINE,
    SLUICE_SEARCH_URLS: `exa=${engines.url}/exa`,
    SLUICE_OUTBOUND_ALLOW: 'site.example',
  },
  true,
  async (host) => [host === 'site.example' ? '127.0.0.1' : '93.184.215.14'],
)

/** By the tool: its call, and a pattern of what it finds. */
const TOOLS = {
  calculator: { args: { expression: '7000013 * 11' }, pattern: '77000143' },
  web_search: { args: { query: 'news' }, pattern: 'First' },
  web_fetch: { args: { url: `http://site.example:${site.port}/page` }, pattern: 'falcon' },
} as const

const rows = Object.entries(TOOLS).flatMap(([name, tool]) =>
  CALLERS.flatMap((caller) =>
    [false, true].flatMap((stream) =>
      ['block', 'redact'].map((action) => ({ name, ...tool, caller, stream, action, as: caller.dialect })),
    ),
  ),
)

test.each(rows)('$action what $name finds: a caller of $as, streamed: $stream', async (row) => {
  const { name, args, pattern, caller, stream, action } = row
  const { key } = await gateway.makeGuardedKey({ content_filters: [{ pattern, action }] })
  upstream.inTurn('tiny', [calls([{ name, args }]), says('Done.')])
  upstream.seen.length = 0
  const { path, body } = caller.ask('tiny', 'What is it?', stream)
  const response = await gateway.call(
    path,
    { ...body, tools: [{ type: `openrouter:${name}` }] },
    { authorization: `Bearer ${key}`, 'x-service-tool-events': 'enabled' },
  )
  const raw = await response.text()
  expect(response.status, raw).toBe(200)
  expect(raw).toContain('Done.')
  expect(raw).not.toContain(pattern)
  const sent = JSON.stringify(upstream.seen[1]?.body['messages'])
  expect(sent).not.toContain(pattern)
  expect(sent).toContain(action === 'block' ? 'withheld by the content filters' : '[REDACTED')
})
