import { describe, expect, test } from 'bun:test'
import { openSource } from '../../scripts/catalog/second-source.ts'

const source = openSource([
  {
    id: 'lab',
    models: [
      { id: 'family', match: { starts_with: 'big' }, prices: { input_mtok: 9, output_mtok: 9 } },
      {
        id: 'big-2',
        match: { or: [{ equals: 'big-2' }, { equals: 'Big-2-Old' }] },
        prices: [
          { prices: { input_mtok: 10, output_mtok: 40 } },
          {
            constraint: { start_date: '2025-06-10' },
            prices: { input_mtok: 2, output_mtok: 8, cache_read_mtok: 0.5 },
          },
        ],
      },
      {
        id: 'tiered',
        match: { and: [{ contains: 'tier' }, { ends_with: 'ed' }] },
        prices: { input_mtok: { base: 1, tiers: [{ start: 200_000, price: 2 }] }, output_mtok: 3 },
      },
      { id: 'pattern', match: { regex: '^x-\\d$' }, prices: { input_mtok: 1 } },
    ],
  },
])

describe('prices of another source', () => {
  test('a rule of the model takes precedence over one of a family', () => {
    expect(source.find('lab', 'big-2')).toMatchObject({ id: 'big-2', isExact: true })
    expect(source.find('lab', 'BIG-2-old')).toMatchObject({ id: 'big-2', isExact: true })
    expect(source.find('lab', 'big-3')).toMatchObject({ id: 'family', isExact: false })
    expect(source.find('lab', 'tiered')).toMatchObject({ id: 'tiered' })
    expect(source.find('lab', 'x-1')).toMatchObject({ id: 'pattern' })
    expect(source.find('lab', 'tier')).toBeUndefined()
    expect(source.find('nobody', 'big-2')).toBeUndefined()
  })

  test('the current price comes first, then those of other times and longer prompts', () => {
    expect(source.find('lab', 'big-2')?.prices).toEqual([
      { prompt: 2, completion: 8, cacheRead: 0.5, when: 'start_date 2025-06-10' },
      { prompt: 10, completion: 40, cacheRead: null, when: 'before' },
    ])
    expect(source.find('lab', 'tiered')?.prices).toEqual([
      { prompt: 1, completion: 3, cacheRead: null, when: 'usual' },
      { prompt: 2, completion: 3, cacheRead: null, when: 'above 200000 tokens' },
    ])
  })
})
