import { describe, expect, test } from 'bun:test'
import { parsePrice } from '../../src/core/money.ts'
import { demoOffer } from '../../src/providers/demo.ts'
import { directoryOf, lab } from './directories.ts'

describe('finding', () => {
  const directory = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'])
  test.each<[name: string, id: string | undefined]>([
    ['maker/alpha-1.5', 'maker/alpha-1.5'],
    ['maker/alpha-1.5-20250101', 'maker/alpha-1.5'],
    ['other-maker/Alpha-1.5', 'maker/alpha-1.5'],
    ['alpha-1-5', 'maker/alpha-1.5'],
    ['Alpha-One', 'maker/alpha-1.5'],
    ['openai/alpha-1-5', 'maker/alpha-1.5'],
    ['groq/Alpha-One', 'maker/alpha-1.5'],
    ['groq/maker/alpha-1.5', 'maker/alpha-1.5'],
    ['MAKER/Alpha-1.5', 'maker/alpha-1.5'],
    ['alpha-one', 'maker/alpha-1.5'],
    ['maker/beta', 'maker/beta'],
    ['maker/beta:free', 'maker/beta:free'],
    ['beta:free', 'maker/beta:free'],
    ['openai/shared-name', 'maker/gamma'],
    ['groq/shared-name', 'other/gamma'],
    ['shared-name', undefined],
    ['third/only-in-converse', undefined],
    ['groq/the-beta', undefined],
    ['maker', undefined],
    ['', undefined],
    ['__proto__', undefined],
    ['constructor', undefined],
  ])('%s', (name, id) => expect(directory.find(name)?.id).toBe(id))

  test('a name in another case does not hide the exact name', () => {
    const both = directoryOf([], [lab('lab', { id: 'Tiny' }, { id: 'tiny' })])
    expect(both.find('Tiny')?.id).toBe('Tiny')
    expect(both.find('tiny')?.id).toBe('tiny')
  })

  test("a provider's name for two different models finds neither, unless one of its providers is off", () => {
    expect(directoryOf(['OPENAI_API_KEY']).find('shared-name')?.id).toBe('maker/gamma')
    expect(directoryOf(['GROQ_API_KEY']).find('shared-name')?.id).toBe('other/gamma')
  })
})

describe('endpoints', () => {
  test('are those of configured providers, in their order', () => {
    const slugs = (keys: string[]) =>
      directoryOf(keys)
        .find('maker/alpha-1.5')
        ?.endpoints.map(({ providerSlug }) => providerSlug)
    expect(slugs(['OPENAI_API_KEY', 'GROQ_API_KEY'])).toEqual(['openai', 'groq'])
    expect(slugs(['GROQ_API_KEY'])).toEqual(['groq'])
    expect(slugs([])).toBeUndefined()
  })

  test('carry exact prices, tiers, limits; an unpriced one carries none', () => {
    const directory = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'])
    expect(directory.find('maker/alpha-1.5')?.endpoints[0]).toEqual({
      id: 'openai/maker/alpha-1.5',
      providerSlug: 'openai',
      modelId: 'maker/alpha-1.5',
      upstreamId: 'alpha-1-5',
      contextLength: 1000,
      maxCompletionTokens: 100,
      inputModalities: ['text'],
      outputModalities: ['text'],
      supportedParameters: ['temperature'],
      pricing: {
        prompt: parsePrice('0.000001'),
        completion: parsePrice('0.000002'),
        request: 0n,
        inputCacheRead: parsePrice('0.0000001'),
        inputCacheWriteHour: parsePrice('0.000002'),
        tiers: [
          {
            minPromptTokens: 200_001,
            prompt: parsePrice('0.000002'),
            inputCacheWriteHour: parsePrice('0.000004'),
          },
        ],
      },
      quantization: null,
      dataPolicy: { training: false, retentionDays: 30, zdr: 'on_request' },
      isZdr: false,
    })
    const beta = directory.find('maker/beta')?.endpoints
    expect(beta?.map(({ pricing }) => pricing === null)).toEqual([false, true])
  })
})

describe('a known model need not be configured', () => {
  const directory = directoryOf(['GROQ_API_KEY'])
  test.each<[name: string, isKnown: boolean, isFound: boolean]>([
    ['maker/alpha-1.5', true, true],
    ['maker/gamma', true, false],
    ['Maker/Gamma', true, false],
    ['third/only-in-converse', true, false],
    ['other-maker/alpha.1.5', true, false],
    ['only-in-converse', false, false],
    ['gamma', false, false],
    ['maker/delta', false, false],
  ])('%s', (name, isKnown, isFound) => {
    expect(directory.isKnown(name)).toBe(isKnown)
    expect(directory.find(name) !== undefined).toBe(isFound)
  })
})

test('the demo is there with nothing configured', () => {
  const directory = directoryOf([], [], [demoOffer])
  expect(directory.list().map(({ id }) => id)).toEqual(['sluice/demo'])
  expect(directory.find('sluice/demo')?.endpoints).toEqual([
    { ...demoOffer.endpoint, dataPolicy: { training: false, retentionDays: 0, zdr: 'always' } },
  ])
  expect(directory.find('Sluice/Demo')?.created).toBeGreaterThan(1_700_000_000)
})

test('the list is in order of id and has no model twice', () => {
  const ids = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'], [], [demoOffer])
    .list()
    .map(({ id }) => id)
  expect(ids).toEqual([...new Set(ids)].sort())
  expect(ids).toEqual([
    'maker/alpha-1.5',
    'maker/beta',
    'maker/beta:free',
    'maker/gamma',
    'other/gamma',
    'sluice/demo',
  ])
})

describe('nearest', () => {
  const directory = directoryOf(['OPENAI_API_KEY', 'GROQ_API_KEY'], [], [demoOffer])
  test.each([
    ['maker/alpha-15', 'maker/alpha-1.5'],
    ['alpha_1.5', 'maker/alpha-1.5'],
    ['makr/betta', 'maker/beta'],
    ['sluice/dmo', 'sluice/demo'],
    ['GAMMA', 'maker/gamma'],
  ])('%s → %s', (name, best) => expect(directory.nearest(name, 3)[0]).toBe(best))

  test('models that can be called come before models that are only known', () => {
    expect(directoryOf([], [], [demoOffer]).nearest('maker/gama', 1)).toEqual(['maker/gamma'])
    expect(directoryOf([], [lab('lab', { id: 'gamma-local' })]).nearest('gamma', 1)).toEqual(['gamma-local'])
  })

  test('returns at most the requested number, and nothing for nonsense', () => {
    expect(directory.nearest('maker/beta', 1)).toHaveLength(1)
    expect(directory.nearest('maker/beta', 0)).toEqual([])
    expect(directory.nearest('zzzzqqq', 3)).toEqual([])
    expect(directory.nearest('', 3)).toEqual([])
    expect(directory.nearest('x'.repeat(1_000_000), 3)).toEqual([])
  })
})
