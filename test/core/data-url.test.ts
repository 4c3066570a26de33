import { expect, test } from 'bun:test'
import { dataUrlHead } from '../../src/core/data-url.ts'
import { withoutTrailing } from '../../src/core/trailing.ts'

test.each([
  ['data:image/png;base64,AAAA', { mediaType: 'image/png', isBase64: true, length: 22 }],
  ['DATA:Image/PNG;x=1;BASE64,AAAA', { mediaType: 'Image/PNG', isBase64: true, length: 26 }],
  ['data:,a', { mediaType: '', isBase64: false, length: 6 }],
  ['data:text/plain;base64;x=1,a', { mediaType: 'text/plain', isBase64: false, length: 27 }],
  ['data:image/png;base64', null],
  ['https://example.com/,', null],
  [`data:${';a=b'.repeat(5_000_000)},`, null],
])('the head of %#', (url, expected) => expect(dataUrlHead(url)).toEqual(expected))

test.each([
  ['a//', '/', 'a'],
  ['//a', '/', '//a'],
  ['///', '/', ''],
  ['', '/', ''],
])('%p without %p at its end', (text, letter, expected) =>
  expect(withoutTrailing(text, letter)).toBe(expected),
)
