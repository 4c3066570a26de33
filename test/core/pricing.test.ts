import { expect, test } from 'bun:test'
import { isFree, type Pricing } from '../../src/core/pricing.ts'

const nothing: Pricing = { prompt: 0n, completion: 0n, request: 0n }

test.each<[what: string, pricing: Partial<Pricing>, isFree: boolean]>([
  ['nothing', {}, true],
  ['prompts', { prompt: 1n }, false],
  ['answers', { completion: 1n }, false],
  ['requests', { request: 1n }, false],
  ['images that are given', { image: 1n }, false],
  ['images that are made', { imageOutput: 1n }, false],
  ['seconds of audio', { audioSecond: 1n }, false],
  ['characters that are spoken', { inputCharacter: 1n }, false],
  ['images at nothing', { image: 0n, imageOutput: 0n }, true],
])('what has a price for %s', (_, pricing, free) => expect(isFree({ ...nothing, ...pricing })).toBe(free))
