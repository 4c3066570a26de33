import { expect, test } from 'bun:test'
import { characterCount } from '../../src/core/characters.ts'

test.each([
  '',
  'a',
  'é',
  '日本',
  '🌊',
  'a🌊b🌊',
  '\ud800',
  '\udc00',
  '\udc00\ud800',
  '\ud800\ud800\udc00',
  '\ud800\udc00\udc00',
])('characters of %j', (text) => expect(characterCount(text)).toBe([...text].length))
