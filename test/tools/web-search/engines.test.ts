import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/core/errors.ts'
import type { EngineName, SearchOptions } from '../../../src/tools/web-search/engine.ts'
import { chooseEngine, configuredEngines, engines } from '../../../src/tools/web-search/engines.ts'
import { checkSearch, search, searchCost } from '../../../src/tools/web-search/search.ts'
import { KEY_OF_ENGINE, NAMES, PAGES, startEngines } from './engine-server.ts'

const server = startEngines()
afterAll(server.stop)
beforeEach(() => {
  server.seen.length = 0
  server.answer = undefined
})

const keys = Object.fromEntries(NAMES.map((name) => [name, KEY_OF_ENGINE]))
const urls = Object.fromEntries(NAMES.map((name) => [name, `${server.url}/${name}`]))
const configured = configuredEngines({ keys, urls, prices: {} })
const OPTIONS: SearchOptions = { maxResults: 5, includeDomains: [], excludeDomains: [], maxCharacters: 1_000 }

const chosen = (name: EngineName) => chooseEngine(name, configured, 'plugins[0].engine')
const ask = (name: EngineName, options: Partial<SearchOptions> = {}, signal = new AbortController().signal) =>
  search(chosen(name), 'a question', { ...OPTIONS, ...options }, { signal, timeoutMs: 3_000 })

async function failureOf(work: Promise<unknown>): Promise<GatewayError> {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (!(error instanceof GatewayError)) throw new Error(`no failure for callers: ${error}`)
  return error
}

describe.each(NAMES.map((name) => [name] as const))('%s', (name) => {
  const { title } = chosen(name).engine

  test('is called with its own field names, and its answer is read', async () => {
    const { results, counted } = await ask(name, { location: { country: 'DE', city: 'Berlin' } })
    expect(results.map(({ url }) => url)).toEqual(PAGES.map(({ url }) => url))
    expect(results[0]?.title).toBe('First page')
    expect(results[0]?.text).toStartWith('The first text.')
    expect(counted).toBe(3)
    expect(server.seen).toHaveLength(1)
    expect(server.seen[0]?.query).toBe('a question')
  })

  test('domains hold for its results, whatever it does with them', async () => {
    const included = await ask(name, { includeDomains: ['example.com'] })
    expect(included.results.map(({ url }) => url)).toEqual(['https://news.example.com/first'])
    expect(JSON.stringify(server.seen[0]?.body)).toContain('example.com')
    const excluded = await ask(name, { excludeDomains: ['*.example.com', 'example.net'] })
    expect(excluded.results.map(({ url }) => url)).toEqual(['https://blog.example.org/second'])
    expect(excluded.counted).toBe(3)
  })

  test('texts are cut, results counted out', async () => {
    const { results } = await ask(name, { maxResults: 1, maxCharacters: 5 })
    expect(results).toMatchObject([{ text: 'The f' }])
  })

  test('429 is a 503 that names it, 500 too, HTML and a list a 502', async () => {
    server.answer = () => Response.json({ message: 'account 4711 is out' }, { status: 429 })
    const limited = await failureOf(ask(name))
    expect(limited).toMatchObject({
      status: 503,
      message: `The search engine ${title} answered 429: its rate limit is reached`,
    })
    expect(limited.headers).toEqual({ 'retry-after': '10' })
    server.answer = () => new Response('oops', { status: 500 })
    expect(await failureOf(ask(name))).toMatchObject({
      status: 503,
      message: `The search engine ${title} answered 500`,
    })
    server.answer = () => new Response('<html>blocked</html>', { headers: { 'content-type': 'text/html' } })
    expect(await failureOf(ask(name))).toMatchObject({
      status: 502,
      message: `The search engine ${title} gave an answer that is not JSON`,
    })
    server.answer = () => Response.json([1, 2])
    expect(await failureOf(ask(name))).toMatchObject({ status: 502 })
  })

  test('a refused key names the setting, not the key', async () => {
    server.answer = () => Response.json({ error: KEY_OF_ENGINE }, { status: 401 })
    const { status, message } = await failureOf(ask(name))
    expect(status).toBe(502)
    expect(message).toContain(chosen(name).engine.setting)
    expect(message).not.toContain(KEY_OF_ENGINE)
  })

  test('an answer of another shape has no results', async () => {
    server.answer = () => Response.json({ results: 'none', web: null, data: [] })
    expect(await ask(name)).toEqual({ results: [], counted: 0 })
  })

  test('a redirect is not followed: the key stays', async () => {
    server.answer = (engine) =>
      engine === name ? Response.redirect(`${server.url}/elsewhere`, 307) : undefined
    expect(await failureOf(ask(name))).toMatchObject({
      status: 502,
      message: `The search engine ${title} answered 307`,
    })
    expect(server.seen).toHaveLength(1)
  })
})

describe('an answer', () => {
  test('of 100 MB is refused before it is read', async () => {
    server.answer = () =>
      new Response(new ReadableStream({ pull: (c) => c.enqueue(new Uint8Array(65_536)) }), {
        headers: { 'content-length': '100000000' },
      })
    const { status, message } = await failureOf(ask('exa'))
    expect([status, message]).toEqual([
      502,
      'The search engine Exa gave a bad answer: the reply is larger than 2097152 bytes',
    ])
  })

  test('that never ends is given up, and says so', async () => {
    server.answer = () => new Response(new ReadableStream({ start: (c) => c.enqueue(new Uint8Array(1)) }))
    const work = search(chosen('exa'), 'q', OPTIONS, { signal: new AbortController().signal, timeoutMs: 50 })
    expect((await failureOf(work)).message).toBe(
      'The search engine Exa failed: no complete reply within 50 ms',
    )
  })

  test('of a caller that left is dropped', async () => {
    const controller = new AbortController()
    server.answer = () => {
      controller.abort(new Error('gone'))
      return undefined
    }
    await expect(ask('exa', {}, controller.signal)).rejects.toThrow('gone')
  })

  test('with addresses that are none, or controls in its texts, is cleaned', async () => {
    server.answer = () =>
      Response.json({
        results: [
          { url: 'javascript:alert(1)', title: 'a', text: 'b' },
          { url: 'file:///etc/passwd', title: 'a', text: 'b' },
          { url: 'https://example.com/', title: '', text: 'one\x00two\x1b[2J \ud800' },
        ],
      })
    expect((await ask('exa')).results).toEqual([
      { url: 'https://example.com/', title: 'example.com', text: 'onetwo[2J \ufffd' },
    ])
  })
})

describe('which engine', () => {
  const none = configuredEngines({ keys: {}, urls: {}, prices: {} })

  test('auto takes the first configured one', () => {
    const two = configuredEngines({ keys: { brave: 'b', tavily: 't' }, urls: {}, prices: {} })
    expect(chooseEngine('auto', two, 'p').engine.name).toBe('tavily')
  })

  test('one without a key is a 400 that names the setting', () => {
    expect(() => chooseEngine('exa', none, 'plugins[0].engine')).toThrow(
      'plugins[0].engine: "exa" is not configured at this gateway: its operator can set SLUICE_EXA_API_KEY. No other search engine is configured either',
    )
    const some = configuredEngines({ keys: { brave: 'b' }, urls: {}, prices: {} })
    expect(() => chooseEngine('exa', some, 'p')).toThrow('Configured are: brave')
    expect(() => chooseEngine('auto', none, 'p')).toThrow('no search engine is configured')
  })

  test('a private address is called only if the operator configured it', async () => {
    const access = {
      ...chosen('exa').access,
      allow: configuredEngines({ keys: { exa: 'k' }, urls: {}, prices: {} }).get('exa')!.allow,
    }
    const work = search({ ...chosen('exa'), access }, 'q', OPTIONS, { signal: new AbortController().signal })
    expect((await failureOf(work)).message).toContain('its address is not allowed')
    expect(server.seen).toEqual([])
  })

  test('more results than it gives, and a mode that it lacks, are 400s that name what it has', () => {
    expect(() => checkSearch(chosen('brave'), { ...OPTIONS, maxResults: 21 }, 'plugins[0]')).toThrow(
      'plugins[0].max_results: must be a whole number from 1 to 20 with the engine Brave, not 21',
    )
    expect(() => checkSearch(chosen('exa'), { ...OPTIONS, mode: 'deep' }, 'tools[1]')).toThrow(
      'tools[1].mode: must be one of auto, fast, instant with the engine Exa',
    )
    expect(() => checkSearch(chosen('brave'), { ...OPTIONS, mode: 'deep' }, 'tools[1]')).toThrow(
      'leave it out',
    )
  })

  test('each has a price, and what lies beyond ten results costs more where the engine charges it', () => {
    const price = (name: EngineName, results: number) => searchCost(configured.get(name)!.price, results)
    expect(price('exa', 10)).toBe(7_000_000)
    expect(price('exa', 12)).toBe(9_000_000)
    expect(price('tavily', 20)).toBe(8_000_000)
    expect(price('searxng', 25)).toBe(0)
    const own = configuredEngines({ keys: { exa: 'k' }, urls: {}, prices: { exa: '0.001' } })
    expect(searchCost(own.get('exa')!.price, 25)).toBe(1_000_000)
    expect(engines.map(({ name }) => name)).toEqual([...NAMES.slice(0, 5), 'firecrawl', 'searxng'])
  })
})
