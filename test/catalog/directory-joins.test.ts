import { describe, expect, test } from 'bun:test'
import { createDirectory } from '../../src/catalog/directory.ts'
import type { ModelOffer } from '../../src/core/snapshot.ts'
import { demoOffer, demoProvider } from '../../src/providers/demo.ts'
import { defaults } from '../providers/defaults.ts'
import { catalog, directoryOf, lab, vendorsOf } from './directories.ts'

describe("an entry's models", () => {
  test('answer to their id and to the entry and the id', () => {
    const directory = directoryOf([], [lab('lab', { id: 'tiny', upstream_id: 'tiny-7b', name: 'Tiny' })])
    for (const name of ['tiny', 'lab/tiny', 'LAB/Tiny', 'tiny-7b', 'lab/tiny-7b']) {
      expect(directory.find(name)).toMatchObject({ id: 'tiny', name: 'Tiny', canonicalSlug: 'tiny' })
    }
    expect(directory.list().map(({ id }) => id)).toContain('tiny')
    expect(directory.find('tiny')?.endpoints.map(({ id, upstreamId }) => [id, upstreamId])).toEqual([
      ['lab/tiny', 'tiny-7b'],
    ])
  })

  test('of one id in two entries are one model with two endpoints', () => {
    const directory = directoryOf(
      [],
      [lab('lab', { id: 'tiny' }), lab('mirror', { id: 'tiny', upstream_id: 't2' })],
    )
    expect(directory.list().filter(({ id }) => id === 'tiny')).toHaveLength(1)
    expect(directory.find('tiny')?.endpoints.map(({ id }) => id)).toEqual(['lab/tiny', 'mirror/tiny'])
    expect(directory.find('mirror/tiny')).toBe(directory.find('lab/tiny'))
  })

  test.each([['maker/alpha-1.5'], ['alpha-1.5'], ['maker/alpha-1.5-20250101'], ['other-maker/alpha-1.5']])(
    'which the catalogue knows as %s join its model, beside the vendors',
    (id) => {
      const directory = directoryOf(
        ['OPENAI_API_KEY'],
        [lab('lab', { id, pricing: { prompt: '0', completion: '0' } })],
      )
      const found = directory.find(id)
      expect(found).toMatchObject({
        id: 'maker/alpha-1.5',
        name: 'Name of maker/alpha-1.5',
        created: 1_700_000_000,
      })
      expect(
        found?.endpoints.map((endpoint) => [endpoint.id, endpoint.upstreamId, endpoint.modelId]),
      ).toEqual([
        ['openai/maker/alpha-1.5', 'alpha-1-5', 'maker/alpha-1.5'],
        ['lab/maker/alpha-1.5', id, 'maker/alpha-1.5'],
      ])
      expect(directory.find(`lab/${id}`)).toBe(found)
      expect(directory.find('maker/alpha-1.5')).toBe(found)
    },
  )

  test('with two names of one model in one entry do not become two endpoints', () => {
    const directory = directoryOf([], [lab('lab', { id: 'maker/beta' }, { id: 'beta' })])
    expect(directory.find('maker/beta')?.endpoints.map(({ upstreamId }) => upstreamId)).toEqual([
      'maker/beta',
    ])
    expect(directory.find('beta')?.endpoints.map(({ upstreamId }) => upstreamId)).toEqual(['beta'])
  })

  test("replace the vendor's own list when the entry has the vendor's slug", () => {
    const withModels = directoryOf([], [lab('openai', { id: 'tiny' })])
    expect(withModels.find('maker/beta')).toBeUndefined()
    expect(withModels.find('openai/tiny')?.id).toBe('tiny')
    expect(directoryOf([], [lab('openai')]).find('maker/beta')?.endpoints).toHaveLength(1)
  })
})

describe('offers that do not join', () => {
  const offer = (providerSlug: string, upstreamId: string): ModelOffer => ({
    ...demoOffer,
    endpoint: {
      ...demoOffer.endpoint,
      id: `${providerSlug}/${upstreamId}`,
      modelId: `${providerSlug}/${upstreamId}`,
      providerSlug,
      upstreamId,
    },
    aliases: [upstreamId],
  })

  test('are models of their own beside the catalogue model of the same name', () => {
    const directory = createDirectory(
      catalog,
      [...vendorsOf('OPENAI_API_KEY'), { ...demoProvider(defaults), slug: 'near' }],
      [offer('near', 'maker/beta'), offer('near', 'small')],
    )
    expect(directory.find('maker/beta')?.endpoints.map(({ providerSlug }) => providerSlug)).toEqual([
      'openai',
    ])
    expect(directory.find('near/maker/beta')?.endpoints.map(({ providerSlug }) => providerSlug)).toEqual([
      'near',
    ])
    expect(directory.find('small')?.id).toBe('near/small')
  })
})
