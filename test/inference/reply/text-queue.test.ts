import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createTextQueue } from '../../../src/inference/reply/text-queue.ts'

test('texts leave in their order, in pieces, with characters of two units whole', () => {
  fc.assert(
    fc.property(
      fc.array(fc.string({ unit: fc.constantFrom('a', 'é', '😀'), maxLength: 30 })),
      fc.integer({ min: 2, max: 20 }),
      (texts, most) => {
        const queue = createTextQueue()
        for (const text of texts) queue.push(text)
        const pieces: string[] = []
        while (!queue.isEmpty) pieces.push(queue.take(most))
        expect(pieces.join('')).toBe(texts.join(''))
        expect(queue.take(most)).toBe('')
        for (const piece of pieces) {
          expect(piece.length).toBeGreaterThan(0)
          expect(piece.length).toBeLessThanOrEqual(most)
          expect(piece.isWellFormed()).toBe(true)
        }
      },
    ),
  )
})

test('what is pushed after everything was taken follows', () => {
  const queue = createTextQueue()
  queue.push('ab')
  expect([queue.take(9), queue.isEmpty]).toEqual(['ab', true])
  queue.push('c')
  queue.push('')
  expect([queue.isEmpty, queue.take(9), queue.isEmpty]).toEqual([false, 'c', true])
})
