import { afterAll, describe, expect, test } from 'bun:test'
import { readRobots } from '../../../src/tools/web-fetch/robots.ts'
import { fetcherOf, html, startSite, WANTED } from './page-server.ts'

const permits = (text: string, path: string): boolean => readRobots(text, ['sluice']).permits(path)

describe('a robots.txt', () => {
  test('holds for the agent that it names, else for all', () => {
    const text =
      'User-agent: *\nDisallow: /\n\nuser-agent: Other\nUSER-AGENT: Sluice # ours\nDisallow: /private\n'
    expect(permits(text, '/page')).toBe(true)
    expect(permits(text, '/private/x')).toBe(false)
    expect(readRobots(text, ['stranger']).permits('/page')).toBe(false)
  })

  test('the longest rule decides, and allow before disallow', () => {
    const text = 'user-agent: *\ndisallow: /a\nallow: /a/b\ndisallow: /a/b/c\nallow: /a/b/c\n'
    expect(permits(text, '/a/x')).toBe(false)
    expect(permits(text, '/a/b/x')).toBe(true)
    expect(permits(text, '/a/b/c')).toBe(true)
  })

  test('* stands for anything and $ for the end', () => {
    const text = 'user-agent: *\ndisallow: /*.pdf$\ndisallow: /x*y\ndisallow: /exact$\n'
    expect(permits(text, '/a/b.pdf')).toBe(false)
    expect(permits(text, '/a/b.pdf?x')).toBe(true)
    expect(permits(text, '/x/123/y/z')).toBe(false)
    expect(permits(text, '/xz')).toBe(true)
    expect(permits(text, '/exact')).toBe(false)
    expect(permits(text, '/exactly')).toBe(true)
  })

  test('without rules, or with an empty one, allows everything', () => {
    expect(permits('', '/a')).toBe(true)
    expect(permits('nonsense\n: :\nuser-agent: *\ndisallow:\n', '/a')).toBe(true)
  })
})

let robots: () => Response = () => new Response('', { status: 404 })
const site = startSite({ '/robots.txt': () => robots(), '/page': () => html('<p>page</p>') })
afterAll(site.stop)
const never = new AbortController().signal
const answerOf = async (options = {}): Promise<string> => {
  const fetcher = fetcherOf(options)
  try {
    return await fetcher.read(`${site.url}/page`, WANTED, never).then(
      ({ text }) => text,
      (error: Error) => error.message,
    )
  } finally {
    fetcher.close()
  }
}

describe('a fetch', () => {
  test('obeys it, unless the operator turned it off', async () => {
    robots = () => new Response('user-agent: *\ndisallow: /page')
    expect(await answerOf()).toBe(
      `The page could not be read: the robots.txt of site.example:${site.port} does not allow it`,
    )
    expect(await answerOf({ obeysRobots: false })).toBe('page')
  })

  test('reads nothing of a site whose robots.txt fails', async () => {
    robots = () => new Response('oops', { status: 503 })
    expect(await answerOf()).toContain('cannot be read')
    robots = () => new Response(new Uint8Array(600_000))
    expect(await answerOf()).toContain('cannot be read')
    robots = () => new Response('', { status: 404 })
    expect(await answerOf()).toBe('page')
  })

  test('asks for it once in some minutes', async () => {
    let now = 0
    const fetcher = fetcherOf({ now: () => now })
    const count = () => site.asked.filter((path) => path === '/robots.txt').length
    const before = count()
    for (const at of [0, 1, 599_999, 600_001]) {
      now = at
      await fetcher.read(`${site.url}/page`, WANTED, never)
    }
    expect(count() - before).toBe(2)
    fetcher.close()
  })
})
