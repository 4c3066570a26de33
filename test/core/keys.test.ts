import { expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { hashKey, isKeyPlausible, labelOf, newKey } from '../../src/core/keys.ts'

test('new keys have their form, differ, and are plausible', () => {
  const keys = Array.from({ length: 500 }, (_, i) => newKey(i % 2 ? 'inference' : 'management'))
  for (const key of keys) {
    expect(key).toMatch(/^sk-sl-(mgmt-)?v1-[0-9A-Za-z]{49}$/)
    expect(isKeyPlausible(key)).toBe(true)
  }
  expect(new Set(keys).size).toBe(keys.length)
})

test('any one mistyped character makes a key implausible', () => {
  const key = newKey('inference')
  for (let i = 'sk-sl-v1-'.length; i < key.length; i++) {
    const typo = key.slice(0, i) + (key[i] === 'x' ? 'y' : 'x') + key.slice(i + 1)
    expect({ typo, plausible: isKeyPlausible(typo) }).toEqual({ typo, plausible: false })
  }
})

const plausible: [string, string, boolean][] = [
  ['32 visible characters', '!'.repeat(32), true],
  ['31 characters', 'a'.repeat(31), false],
  ['512 characters', 'a'.repeat(512), true],
  ['513 characters', 'a'.repeat(513), false],
  ['a blank', `${'a'.repeat(20)} ${'a'.repeat(20)}`, false],
  ['a letter beyond ASCII', `${'a'.repeat(40)}é`, false],
  ["an operator's key with our prefix", `sk-sl-v1-${'ab'.repeat(32)}`, true],
]
for (const [name, key, expected] of plausible) {
  test(`${name}: ${expected ? 'plausible' : 'implausible'}`, () => {
    expect(isKeyPlausible(key)).toBe(expected)
  })
}

test('hash is the SHA-256 of the whole key in hex', () => {
  const key = newKey('management')
  expect(hashKey(key)).toBe(createHash('sha256').update(key).digest('hex'))
})

test('labels show the prefix and three characters at either end', () => {
  expect(labelOf('sk-sl-v1-abcdefghijkxyz')).toBe('sk-sl-v1-abc...xyz')
  expect(labelOf('sk-sl-mgmt-v1-abcdefghijkxyz')).toBe('sk-sl-mgmt-v1-abc...xyz')
  expect(labelOf('operator-chosen-key-of-32-letters')).toBe('ope...ers')
})
