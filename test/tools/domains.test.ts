import { describe, expect, test } from 'bun:test'
import { matchesDomain, readDomains, withSites } from '../../src/tools/domains.ts'

const matches = (url: string, pattern: string): boolean => matchesDomain(new URL(url), pattern)

describe('a pattern of sites', () => {
  test('a domain matches itself and its subdomains, not a name that ends alike', () => {
    expect(matches('https://example.com/x', 'example.com')).toBe(true)
    expect(matches('https://www.EXAMPLE.com/x', 'example.com')).toBe(true)
    expect(matches('https://notexample.com/', 'example.com')).toBe(false)
    expect(matches('https://example.com.evil.example/', 'example.com')).toBe(false)
  })

  test('*. matches subdomains alone', () => {
    expect(matches('https://a.example.com/', '*.example.com')).toBe(true)
    expect(matches('https://example.com/', '*.example.com')).toBe(false)
  })

  test('a path matches whole segments', () => {
    expect(matches('https://example.com/blog/a', 'example.com/blog')).toBe(true)
    expect(matches('https://example.com/blog', 'example.com/blog')).toBe(true)
    expect(matches('https://example.com/blogs', 'example.com/blog')).toBe(false)
    expect(matches('https://example.com/', 'example.com/blog')).toBe(false)
  })

  test('is read in lower case; anything else is a 400 with its place', () => {
    expect(readDomains([' Example.com ', '*.Sub.example.com/Path'], 'p')).toEqual([
      'example.com',
      '*.sub.example.com/Path',
    ])
    expect(readDomains(undefined, 'p')).toEqual([])
    for (const wrong of ['https://example.com', '', 'a b', '*', 'exa*mple.com', 'user@host', 'host:80'])
      expect(() => readDomains(['ok.example', wrong], 'plugins[0].include_domains')).toThrow(
        'plugins[0].include_domains[1]: must be a domain such as',
      )
    expect(() => readDomains(Array(101).fill('a.example'), 'p')).toThrow('more than 100 domains')
  })
})

describe('operators in the query', () => {
  test('name the sites, unless they do not fit', () => {
    const domains = {
      includeDomains: ['a.example', '*.b.example/c'],
      excludeDomains: ['d.example', '*.e.example'],
    }
    expect(withSites('q', domains, 100)).toBe('q (site:a.example OR site:b.example) -site:d.example')
    expect(withSites('q', domains, 20)).toBe('q')
    expect(withSites('q', { includeDomains: ['a.example'], excludeDomains: [] }, 100)).toBe(
      'q site:a.example',
    )
  })
})
