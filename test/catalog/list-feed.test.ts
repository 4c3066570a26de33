import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Gateway } from '../gateway.ts'
import { idsOf, startLists } from './lists.ts'
import { childrenOf, parseXml, textOf } from './xml.ts'

let gateway: Gateway
beforeAll(async () => {
  gateway = await startLists()
})
afterAll(() => gateway.stop())

describe('GET /models as a feed', () => {
  const feed = async (query: string) => {
    const response = await gateway.call(`/models?${query}`)
    expect(response.headers.get('content-type')).toBe('application/rss+xml; charset=utf-8')
    return parseXml(await response.text())
  }

  test('is RSS 2.0 with one item for each model', async () => {
    const rss = await feed('use_rss=true&sort=newest&use_rss_chat_links=true')
    expect({ name: rss.name, version: rss.attributes['version'] }).toEqual({ name: 'rss', version: '2.0' })
    const [channel] = childrenOf(rss, 'channel')
    for (const name of ['title', 'link', 'description']) expect(textOf(channel, name)).toBeTruthy()
    const items = childrenOf(channel, 'item')
    expect(items.map((item) => textOf(item, 'guid')).join(' ')).toBe(
      await idsOf(gateway, '/models?sort=newest'),
    )
    for (const item of items) {
      expect(URL.canParse(textOf(item, 'link') ?? '')).toBe(true)
      expect(textOf(item, 'title')).toBeTruthy()
      expect(textOf(item, 'description')).toBeTruthy()
      expect(new Set(item.children.map(({ name }) => name)).size).toBe(item.children.length)
    }
    expect(items.map((item) => textOf(item, 'title'))).toContain('Shared: Large & <wide>')
    expect(textOf(items[0], 'pubDate')).toBe('Thu, 01 Jan 2026 00:00:00 GMT')
  })

  test('has the filters and the pages of the list', async () => {
    const [channel] = childrenOf(await feed('use_rss=1&providers=cloud&limit=1'), 'channel')
    expect(childrenOf(channel, 'item').map((item) => textOf(item, 'guid'))).toEqual(['shared/large'])
    expect(childrenOf(channel, 'atom:link')[0]?.attributes['href']).toEndWith(
      '/api/v1/models?use_rss=1&providers=cloud&limit=1',
    )
  })

  test('can be empty; use_rss=false returns JSON', async () => {
    const [channel] = childrenOf(await feed('use_rss=true&q=nothing-like-it'), 'channel')
    expect(childrenOf(channel, 'item')).toEqual([])
    expect(await idsOf(gateway, '/models?use_rss=false&q=demo')).toBe('sluice/demo')
  })
})
