import { describe, expect, test } from 'bun:test'
import { tagOf } from '../../../src/catalog/view.ts'
import type { EndpointRecord, ProviderRecord } from '../../../src/core/snapshot.ts'
import { isNamed, rankIn } from '../../../src/inference/routing/endpoint-tags.ts'
import { endpoint, provider } from '../fixture.ts'

const at = (slug: string, more: Partial<EndpointRecord> = {}, place: Partial<ProviderRecord> = {}) => ({
  provider: provider(slug, place),
  record: endpoint(slug, 'lab/tiny', more),
})
const fp8 = at('deepinfra', { quantization: 'fp8' })
const bf16 = at('deepinfra', { quantization: 'bf16' })
const unknown = at('deepinfra')
const vertex = at('google-vertex', {}, { region: 'us-east5', name: 'Google Vertex' })
const europe = at('lab', { quantization: 'Q4_K_M', regions: ['eu'] })

describe('a name in only, order and ignore', () => {
  test.each([
    ['the slug names every endpoint of the provider', 'deepinfra', [fp8, bf16, unknown], [vertex]],
    ['a display name does too', 'google vertex', [vertex], [fp8]],
    ['a quantization names only the endpoints that run it', 'deepinfra/fp8', [fp8], [bf16, unknown, vertex]],
    ['a region names the provider of this region', 'google-vertex/us-east5', [vertex], [fp8]],
    ['another region names nothing', 'google-vertex/us-central1', [], [vertex]],
    ['a data region names the endpoints in it', 'lab/eu', [europe], [vertex]],
    ['a quantization is compared in lower case', 'lab/q4_k_m', [europe], [fp8]],
    ['several tags must all be true', 'lab/eu/q4_k_m', [europe], [fp8]],
    ['one wrong tag of several names nothing', 'lab/us/q4_k_m', [], [europe]],
    ['an unknown tag names nothing', 'deepinfra/turbo', [], [fp8, bf16, unknown]],
    ['a slash without a tag names nothing', 'deepinfra/', [], [fp8, unknown]],
    ['the beginning of a slug names nothing', 'deep', [], [fp8]],
    ['a longer slug is another provider', 'deepinfra-eu', [], [fp8]],
  ])('%s', (_, name, named, others) => {
    for (const one of named) expect(isNamed([name], one.provider, one.record)).toBe(true)
    for (const one of others) expect(isNamed([name], one.provider, one.record)).toBe(false)
  })

  test('the first of several names decides the rank', () => {
    const names = ['google-vertex', 'deepinfra/bf16', 'deepinfra']
    const ranks = [vertex, bf16, fp8, europe].map((one) => rankIn(names, one.provider, one.record))
    expect(ranks).toEqual([0, 1, 2, 3])
  })
})

test('the tag that the lists of endpoints show names the endpoint', () => {
  for (const one of [fp8, bf16, unknown, vertex, europe]) {
    expect(isNamed([tagOf(one).toLowerCase()], one.provider, one.record)).toBe(true)
  }
})
