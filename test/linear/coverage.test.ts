import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { egresses, ingresses } from '../../src/dialects/index.ts'

test('each dialect is measured, in each of its directions', () => {
  const files = readdirSync(import.meta.dir)
  const wanted = [
    ...Object.keys(ingresses).map((name) => `${name}-requests.test.ts`),
    ...Object.keys(egresses).map((name) => `replies-${name}.test.ts`),
  ]
  expect(wanted.filter((name) => !files.includes(name))).toEqual([])
})
