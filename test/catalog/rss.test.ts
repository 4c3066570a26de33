import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { descriptionOf } from '../../src/catalog/description.ts'
import { type Gateway, startGateway } from '../gateway.ts'
import { childrenOf, type Element, parseXml, textOf } from './xml.ts'

/** RSS 2.0 (rssboard.org/rss-specification) and the board's best practices, of a feed whose names try to break it. */

const NAME = `]]> </title> & &amp; <b>"x"</b> 'y' \u0007\u{1f680} \ud800 ﬀ`
const names = [
  'a/b&c',
  'tag/<x>',
  'quote/"q"',
  'space/a b',
  'colon/m:free',
  'unicode/模型-é',
  'percent/50%',
  'hash/a#b?c=d',
]

let gateway: Gateway
let site = 'http://localhost'
beforeAll(async () => {
  gateway = await startGateway({
    address: () => site,
    environment: { OPENAI_API_KEY: 'k', OPENROUTER_API_KEY: 'k' },
    providers: [
      {
        slug: 'lab',
        name: 'R&D <lab>',
        base_url: 'http://127.0.0.1:9/v1',
        models: names.map((id) => ({
          id,
          name: `${id}: ${NAME}`,
          pricing: { prompt: '0', completion: '0' },
        })),
      },
    ],
  })
})
afterAll(() => gateway.stop())

async function feedOf(query: string, headers: Record<string, string> = {}): Promise<Element> {
  const response = await gateway.call(`/models?${query}`, undefined, headers)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
  const bytes = new Uint8Array(await response.arrayBuffer())
  const source = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  expect(source).toStartWith('<?xml version="1.0" encoding="UTF-8"?>\n<rss version="2.0"')
  // Characters that XML 1.0 does not have, and the end of CDATA.
  expect(source).not.toMatch(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|\]\]>/)
  return parseXml(source)
}

const CHANNEL = ['title', 'link', 'description', 'atom:link', 'item']
const ITEM = ['title', 'link', 'guid', 'category', 'pubDate', 'description']
const RFC_822 =
  /^(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d{2} (Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec) \d{4} \d{2}:\d{2}:\d{2} GMT$/

function expectValid(rss: Element, address: string): Element[] {
  expect(rss).toMatchObject({
    name: 'rss',
    attributes: { version: '2.0', 'xmlns:atom': 'http://www.w3.org/2005/Atom' },
  })
  expect(rss.children.map(({ name }) => name)).toEqual(['channel'])
  const [channel] = childrenOf(rss, 'channel')
  expect(channel?.children.filter(({ name }) => !CHANNEL.includes(name))).toEqual([])
  for (const name of ['title', 'link', 'description']) {
    expect(childrenOf(channel, name)).toHaveLength(1)
    expect(textOf(channel, name)?.trim()).toBeTruthy()
  }
  expect(childrenOf(channel, 'atom:link').map(({ attributes }) => attributes)).toEqual([
    { href: address, rel: 'self', type: 'application/rss+xml' },
  ])
  const items = childrenOf(channel, 'item')
  for (const item of items) expectItem(item)
  const guids = items.map((item) => textOf(item, 'guid'))
  expect(new Set(guids).size).toBe(guids.length)
  return items
}

function expectItem(item: Element): void {
  const inside = item.children.map(({ name }) => name)
  expect(inside.filter((name) => !ITEM.includes(name))).toEqual([])
  expect(new Set(inside).size).toBe(inside.length)
  expect(item.children.flatMap(({ children }) => children)).toEqual([])
  for (const name of ['title', 'description', 'category']) expect(textOf(item, name)?.trim()).toBeTruthy()
  const link = textOf(item, 'link') ?? ''
  expect(URL.parse(link)?.href).toBe(link)
  expect(childrenOf(item, 'guid')[0]?.attributes).toEqual({ isPermaLink: 'false' })
  const published = textOf(item, 'pubDate')
  if (published === undefined) return
  expect(published).toMatch(RFC_822)
  expect(new Date(published).toUTCString()).toBe(published)
}

describe('the feed', () => {
  test('of the complete catalogue is valid, with the models in the order of the list', async () => {
    const query = 'use_rss=true&output_modalities=all&sort=newest&limit=1000'
    const items = expectValid(await feedOf(query), `http://localhost/api/v1/models?${query}`)
    const { data } = await (await gateway.call(`/models?${query.replace('use_rss=true&', '')}`)).json()
    expect(items.length).toBeGreaterThan(300)
    expect(items.map((item) => textOf(item, 'guid'))).toEqual(data.map((model: { id: string }) => model.id))
    const dates = items.map((item) => Date.parse(textOf(item, 'pubDate') ?? '1970-01-01T00:00:00Z'))
    expect(dates).toEqual(dates.toSorted((left, right) => right - left))
    expect(data.map((model: { created: number }) => model.created * 1000)).toEqual(dates)
  })

  test('has every name unchanged, except characters that XML forbids', async () => {
    const items = expectValid(
      await feedOf('use_rss=1&providers=lab'),
      'http://localhost/api/v1/models?use_rss=1&providers=lab',
    )
    const clean = NAME.replace('\u0007', '').replace('\ud800', '\ufffd')
    expect(items.map((item) => textOf(item, 'guid')).toSorted()).toEqual(names.toSorted())
    for (const item of items) expect(textOf(item, 'title')).toBe(`${textOf(item, 'guid')}: ${clean}`)
    const listing = gateway.deps.lists.all()
    const descriptions = new Map(listing.map((offered) => [offered.model.id, descriptionOf(offered)]))
    for (const item of items) {
      const expected = descriptions
        .get(textOf(item, 'guid') ?? '')
        ?.replace('\u0007', '')
        .replace('\ud800', '\ufffd')
      expect(textOf(item, 'description')).toBe(expected ?? '')
    }
  })

  test('each link leads to its model', async () => {
    for (const item of childrenOf(
      childrenOf(await feedOf('use_rss=1&providers=lab'), 'channel')[0],
      'item',
    )) {
      const { pathname, search, hash } = new URL(textOf(item, 'link') ?? '')
      expect(search + hash).toBe('')
      const response = await gateway.call(pathname.replace('/api/v1', ''))
      expect(await response.json()).toMatchObject({ data: { id: textOf(item, 'guid') } })
    }
  })

  test('is addressed as its readers reach it', async () => {
    const secure = await feedOf('use_rss=1&q=nothing-there', { 'x-forwarded-proto': 'https' })
    expectValid(secure, 'https://localhost/api/v1/models?use_rss=1&q=nothing-there')
    const before = site
    site = 'https://ai.example.org/gateway'
    try {
      const items = expectValid(
        await feedOf('use_rss=1&q=sluice/demo'),
        'https://ai.example.org/gateway/api/v1/models?use_rss=1&q=sluice/demo',
      )
      expect(textOf(items[0], 'link')).toBe('https://ai.example.org/gateway/api/v1/model/sluice/demo')
    } finally {
      site = before
    }
  })

  test.each(['', '0', 'false', 'FALSE'])('use_rss=%s does not return a feed', async (value) =>
    expect((await gateway.call(`/models?use_rss=${value}`)).headers.get('content-type')).toBe(
      'application/json',
    ),
  )
})
