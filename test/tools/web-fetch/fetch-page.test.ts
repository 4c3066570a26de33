import { afterAll, describe, expect, test } from 'bun:test'
import { pdfOf } from '../documents/files.ts'
import { fetcherOf, html, startSite, WANTED } from './page-server.ts'

const utf16 = new Uint8Array([0xff, 0xfe, 0x68, 0x00, 0xe9, 0x00])
const ENDLESS = new ReadableStream<Uint8Array>({
  start: (c) => c.enqueue(new TextEncoder().encode('<html>')),
})

const site = startSite({
  '/page': () =>
    html(
      `<html><head><title>A title</title></head><body><nav><a href="/">Home</a></nav><article><h2>About it</h2><p>${'A sentence, and one more. '.repeat(30)}<a href="/next?a=1#b">next</a></p></article></body></html>`,
    ),
  '/latin': () => html(new Uint8Array([...Buffer.from('<p>caf'), 0xe9, ...Buffer.from('</p>')])),
  '/named': () =>
    html(
      new Uint8Array([...Buffer.from('<p>'), 0x93, 0xfa, ...Buffer.from('</p>')]),
      'text/html; charset=Shift_JIS',
    ),
  '/meta': () =>
    html(
      new Uint8Array([...Buffer.from('<meta charset="koi8-r"><p>'), 0xd0, ...Buffer.from('</p>')]),
      'text/html',
    ),
  '/wrong': () => html('<p>ok é</p>', 'text/html; charset=no-such-charset'),
  '/bom': () => new Response(utf16, { headers: { 'content-type': 'text/plain; charset=utf-8' } }),
  '/text': () => new Response('plain <b>text</b>', { headers: { 'content-type': 'text/plain' } }),
  '/json': () => Response.json({ a: 1 }),
  '/untyped': () => new Response(new TextEncoder().encode('<!DOCTYPE html><p>it is a page</p>')),
  '/broken.pdf': () => new Response('%PDF-1.7', { headers: { 'content-type': 'application/pdf' } }),
  '/report.pdf': () =>
    new Response(pdfOf(['Tides rise.', 'And fall.']), { headers: { 'content-type': 'application/pdf' } }),
  '/endless.pdf': () =>
    new Response(new ReadableStream({ start: (c) => c.enqueue(new TextEncoder().encode('%PDF-1.7')) }), {
      headers: { 'content-type': 'application/pdf' },
    }),
  '/untyped-report': () => new Response(pdfOf(['Tides rise.'])),
  '/large.pdf': () =>
    new Response(new Uint8Array(21_000_000), { headers: { 'content-type': 'application/pdf' } }),
  '/png': () => new Response('x', { headers: { 'content-type': 'image/png' } }),
  '/gone': () => new Response('', { status: 410 }),
  '/large': () => new Response(new Uint8Array(5_000_000), { headers: { 'content-type': 'text/html' } }),
  '/bomb': () =>
    new Response(Bun.gzipSync(new Uint8Array(10_000_000)), {
      headers: { 'content-type': 'text/html', 'content-encoding': 'gzip' },
    }),
  '/slow': () => new Response(ENDLESS, { headers: { 'content-type': 'text/html' } }),
  '/moved': () => new Response('', { status: 301, headers: { location: '/page' } }),
  '/to-loopback': () =>
    new Response('', { status: 302, headers: { location: `http://127.0.0.1:${site.port}/secret` } }),
  '/to-name': () =>
    new Response('', { status: 302, headers: { location: `http://localhost:${site.port}/secret` } }),
  '/to-file': () => new Response('', { status: 302, headers: { location: 'file:///etc/passwd' } }),
  '/to-other': () =>
    new Response('', { status: 302, headers: { location: `http://other.example:${site.port}/page` } }),
  '/circle': () => new Response('', { status: 302, headers: { location: '/circle' } }),
  '/secret': () => html('<p>SECRET</p>'),
})
const fetcher = fetcherOf()
afterAll(() => {
  fetcher.close()
  site.stop()
})

const never = new AbortController().signal
const read = (path: string, options = {}) =>
  fetcher.read(`${site.url}${path}`, { ...WANTED, ...options }, never)
const failure = (path: string, options = {}) =>
  read(path, options).then(
    ({ text }) => `no failure: ${text.slice(0, 100)}`,
    (error: Error) => error.message,
  )

describe('a page', () => {
  test('is its article as Markdown, with complete links and its title', async () => {
    const page = await read('/page#part')
    expect(page).toMatchObject({ url: `${site.url}/page`, title: 'A title', isCut: false })
    expect(page.text).toStartWith('## About it\n\nA sentence, and one more.')
    expect(page.text).toEndWith(`[next](${site.url}/next?a=1#b)`)
    expect(page.text).not.toContain('Home')
  })

  test('is cut where the caller says', async () => {
    expect(await read('/page', { mostCharacters: 11 })).toMatchObject({ text: '## About it', isCut: true })
  })

  test('is decoded by its mark, its header, its meta element, or as what it looks like', async () => {
    expect((await read('/latin')).text).toBe('café')
    expect((await read('/named')).text).toBe('日')
    expect((await read('/meta')).text).toBe('п')
    expect((await read('/wrong')).text).toBe('ok é')
    expect((await read('/bom')).text).toBe('hé')
  })

  test('that is text of another kind stays as it is', async () => {
    expect((await read('/text')).text).toBe('plain <b>text</b>')
    expect((await read('/json')).text).toBe('{"a":1}')
    expect((await read('/untyped')).text).toBe('it is a page')
  })

  test('that is a PDF is its text, by its type or by its first bytes', async () => {
    const { title, text, isCut } = await read('/report.pdf')
    expect(title).toBe('report.pdf')
    expect(text).toContain('Tides rise.')
    expect(text).toContain('And fall.')
    expect(isCut).toBe(false)
    expect((await read('/untyped-report')).text).toContain('Tides rise.')
    expect(await read('/report.pdf', { mostCharacters: 5 })).toMatchObject({
      text: text.slice(0, 5),
      isCut: true,
    })
  })

  test('that is a PDF is refused while four others are read', async () => {
    const leaving = new AbortController()
    const reading = Array.from({ length: 5 }, () =>
      fetcher.read(`${site.url}/endless.pdf`, WANTED, leaving.signal).then(String, String),
    )
    expect(await Promise.race(reading)).toContain('this gateway reads too many pages now')
    leaving.abort('left')
    const busy = (await Promise.all(reading)).filter((reason) => reason !== 'left')
    expect(busy).toHaveLength(1)
    expect((await read('/report.pdf')).title).toBe('report.pdf')
  })

  test('that cannot be read says why', async () => {
    expect(await failure('/broken.pdf')).toStartWith('The file "broken.pdf" cannot be read: ')
    expect(await failure('/large.pdf')).toContain('the reply is larger than 20971520 bytes')
    expect(await failure('/png')).toBe('The page could not be read: it is image/png, not text')
    expect(await failure('/gone')).toBe(`The page could not be read: site.example:${site.port} answered 410`)
    expect(await failure('/large')).toContain('the reply is larger than 4194304 bytes')
    expect(await failure('/bomb')).toContain('the reply is compressed, although the request did not allow it')
  })

  test('that drips is given up', async () => {
    const hasty = fetcherOf({ timeoutMs: 100 })
    const work = hasty.read(`${site.url}/slow`, WANTED, never)
    expect(await work.catch((error: Error) => error.message)).toMatch(/no complete reply within \d+ ms/)
    hasty.close()
  })

  test('is not awaited for a caller that left', async () => {
    const leaving = new AbortController()
    const work = fetcher.read(`${site.url}/slow`, WANTED, leaving.signal)
    leaving.abort(new Error('gone'))
    await expect(work).rejects.toThrow('gone')
  })
})

describe('an address', () => {
  test('is followed when it moved, and each hop is checked', async () => {
    expect((await read('/moved')).url).toBe(`${site.url}/page`)
    expect(await failure('/to-loopback')).toContain('private, local or reserved address')
    expect(await failure('/to-name')).toContain('private, local or reserved address')
    expect(await failure('/to-file')).toContain('must begin with http')
    expect(await failure('/circle')).toBe(
      'The page could not be read: the address redirects more than 5 times',
    )
    expect(site.asked).not.toContain('/secret')
  })

  test('of a private machine is refused', async () => {
    for (const address of [
      `http://127.0.0.1:${site.port}/secret`,
      `http://[::1]:${site.port}/secret`,
      `http://2130706433:${site.port}/secret`,
      `http://localhost:${site.port}/secret`,
      'http://169.254.169.254/latest/meta-data',
      'http://metadata.google.internal/',
    ])
      await expect(fetcher.read(address, WANTED, never)).rejects.toThrow('private, local or reserved address')
    await expect(fetcher.read('file:///etc/passwd', WANTED, never)).rejects.toThrow('must begin with http')
    await expect(fetcher.read('nonsense', WANTED, never)).rejects.toThrow('not a URL')
    expect(site.asked).not.toContain('/secret')
  })

  test('outside the domains is refused, also after a redirect', async () => {
    const allowedDomains = ['site.example']
    expect((await read('/page', { allowedDomains })).title).toBe('A title')
    expect(await failure('/to-other', { allowedDomains })).toContain('other.example is not among the domains')
    expect(await failure('/page', { blockedDomains: ['site.example/page'] })).toContain(
      'not among the domains',
    )
    expect((await read('/to-other')).url).toContain('other.example')
  })
})

test('no more than 64 pages are read at once, and later ones again', async () => {
  const fetcher = fetcherOf({ obeysRobots: false })
  const leaving = new AbortController()
  const { signal } = leaving
  const slow = Array.from({ length: 64 }, () => fetcher.read(`${site.url}/slow`, WANTED, signal))
  const late = fetcher.read(`${site.url}/page`, WANTED, new AbortController().signal)
  expect(late).rejects.toThrow('too many pages')
  await late.catch(() => undefined)
  leaving.abort(new Error('left'))
  await Promise.allSettled(slow)
  const page = await fetcher.read(`${site.url}/page`, WANTED, new AbortController().signal)
  expect(page.title).toBe('A title')
  fetcher.close()
})
