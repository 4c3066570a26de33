import { describe, expect, test } from 'bun:test'
import { createApp } from '../../src/app.ts'
import { site } from '../../src/docs/site.ts'
import { gatewayOfFile } from '../file-setup.ts'
import { call, runScenarios } from '../scenario.ts'

const gateway = await gatewayOfFile()
const handler = createApp(gateway.deps)

const HTML = 'text/html; charset=utf-8'
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
const page = { 'content-type': HTML, 'content-security-policy': POLICY, 'x-content-type-options': 'nosniff' }

runScenarios('the documentation', () => handler, [
  {
    name: 'the first page lists every page, the API reference and the document',
    path: '/docs',
    status: 200,
    replyHeaders: page,
    contains: [
      'href="/docs/api"',
      'href="/openapi.json"',
      ...site.pages.map(({ path }) => `href="/docs/${path}"`),
    ],
  },
  { name: 'a slash at the end is the same page', path: '/docs/', status: 200, replyHeaders: page },
  {
    name: 'a page has its title, its sections with anchors, and the navigation',
    path: '/docs/reference/settings',
    status: 200,
    replyHeaders: page,
    contains: [
      '<title>Settings · Sluice</title>',
      '<h1 id="settings">',
      'SLUICE_PORT',
      'aria-current="page"',
    ],
  },
  {
    name: 'the name of the file works too',
    path: '/docs/reference/settings.md',
    status: 200,
    replyHeaders: page,
  },
  { name: 'a page that does not exist', path: '/docs/nothing', status: 404, contains: ['no such page'] },
  {
    name: 'the style',
    path: '/docs/style.css',
    status: 200,
    replyHeaders: { 'content-type': 'text/css; charset=utf-8' },
  },
  {
    name: 'the script of the search',
    path: '/docs/browser.js',
    status: 200,
    replyHeaders: { 'content-type': 'text/javascript; charset=utf-8' },
  },
])

describe('the documentation', () => {
  test('a page needs nothing but this server', async () => {
    for (const { path } of site.pages) {
      const { text } = await call(handler, { path: `/docs/${path}` })
      const loaded = [...text.matchAll(/<(?:script|link|img|iframe)\b[^>]*(?:src|href)="([^"]*)"/g)]
      expect(loaded.map(([, address]) => address)).toEqual(['data:,', '/docs/style.css', '/docs/browser.js'])
      expect(text).not.toMatch(/<script>|\son\w+="|\sstyle="/)
    }
  })

  test('the search index has every section, and each is an anchor of its page', async () => {
    const { json } = await call(handler, { path: '/docs/search.json' })
    expect(json).toEqual(structuredClone(site.sections))
    for (const { at } of site.sections) {
      const [path, id] = at.split('#')
      const html = site.pages.find((each) => each.path === path)?.html ?? ''
      expect({ at, found: html.includes(`id="${id}"`) }).toEqual({ at, found: true })
    }
  })

  test('links keep a base path', async () => {
    const { text } = await call(createApp(gateway.deps, '/ai'), { path: '/ai/docs/reference/settings' })
    expect(text).toContain('href="/ai/docs/reference/cli"')
    expect(text).toContain('data-index="/ai/docs/search.json"')
    expect(text).not.toMatch(/(?:href|src|data-index)="\/(?!ai\/)/)
  })
})
