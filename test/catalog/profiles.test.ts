import { beforeAll, describe, expect, test } from 'bun:test'
import type { Catalog } from '../../src/catalog/catalog.ts'
import { createDirectory } from '../../src/catalog/directory.ts'
import { readDocument } from '../../src/catalog/facts/document.ts'
import { joinProfiles, plainNameOf } from '../../src/catalog/facts/profiles.ts'
import { loadCatalog } from '../../src/catalog/store.ts'
import { formatPrice } from '../../src/core/money.ts'
import type { EndpointRecord, ModelDirectory } from '../../src/core/snapshot.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { defaults } from '../providers/defaults.ts'

/** Amazon Bedrock in a region: the name under which a model is called, and its price. */

let catalog: Catalog
beforeAll(() => {
  catalog = loadCatalog()
})

const directoryIn = (region: string): ModelDirectory =>
  createDirectory(
    catalog,
    environmentProviders({ AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: region }, defaults).providers,
    [],
  )
const endpointIn = (region: string, id: string): EndpointRecord | undefined =>
  directoryIn(region).find(id)?.endpoints[0]

const SONNET = 'anthropic.claude-sonnet-4-5-20250929-v1:0'

test.each([
  ['us-east-1', 'anthropic/claude-sonnet-4.5', `us.${SONNET}`, ['us']],
  ['us-west-2', 'amazon/nova-lite-v1', 'us.amazon.nova-lite-v1:0', ['us']],
  ['ca-central-1', 'anthropic/claude-sonnet-4.5', `us.${SONNET}`, ['us']],
  ['eu-central-1', 'anthropic/claude-sonnet-4.5', `eu.${SONNET}`, ['eu']],
  ['eu-west-3', 'amazon/nova-pro-v1', 'eu.amazon.nova-pro-v1:0', ['eu']],
  ['ap-northeast-1', 'anthropic/claude-sonnet-4.5', `jp.${SONNET}`, ['jp']],
  ['ap-southeast-2', 'anthropic/claude-sonnet-4.5', `au.${SONNET}`, ['au']],
  ['ap-south-1', 'amazon/nova-lite-v1', 'apac.amazon.nova-lite-v1:0', ['apac']],
  ['ap-south-1', 'anthropic/claude-sonnet-4.5', `global.${SONNET}`, undefined],
  ['sa-east-1', 'anthropic/claude-sonnet-4.5', `global.${SONNET}`, undefined],
  ['eu-central-1', 'anthropic/claude-fable-5', 'eu.anthropic.claude-fable-5', ['eu']],
  ['us-east-1', 'openai/gpt-oss-120b', 'openai.gpt-oss-120b-1:0', undefined],
  ['eu-central-1', 'meta-llama/llama-3.3-70b-instruct', 'meta.llama3-3-70b-instruct-v1:0', undefined],
  ['us-east-2', 'meta-llama/llama-4-maverick', 'us.meta.llama4-maverick-17b-instruct-v1:0', ['us']],
  ['us-east-1', 'deepseek/deepseek-r1', 'us.deepseek.r1-v1:0', ['us']],
])('in %s, %s is %s', (region, id, upstreamId, regions) => {
  const endpoint = endpointIn(region, id)
  expect(endpoint?.upstreamId).toBe(upstreamId)
  expect(endpoint?.regions).toEqual(regions)
})

test('the price is the profile’s', () => {
  const prices = (region: string) => {
    const { pricing } = endpointIn(region, 'anthropic/claude-sonnet-4.5') ?? {}
    return [pricing?.prompt, pricing?.inputCacheWrite, pricing?.inputCacheWriteHour].map((price) =>
      price === undefined ? undefined : formatPrice(price * 1_000_000n),
    )
  }
  expect(['us-east-1', 'eu-central-1', 'sa-east-1'].map(prices)).toEqual([
    ['3', '3.75', '6'],
    ['3.3', '4.125', '6.6'],
    ['3', '3.75', '6'],
  ])
})

test('a model answers to its names at AWS, with the region and without', () => {
  const directory = directoryIn('eu-central-1')
  for (const name of [
    SONNET,
    `eu.${SONNET}`,
    `amazon-bedrock/${SONNET}`,
    'amazon-bedrock/anthropic/claude-sonnet-4.5',
  ]) {
    expect(directory.find(name)?.id).toBe('anthropic/claude-sonnet-4.5')
  }
  expect(directory.find(`us.${SONNET}`)).toBeUndefined()
})

test('every model of the facts, except those at another address, is there once, under a shared id', () => {
  const models = directoryIn('us-east-1').list()
  expect(models.length).toBeGreaterThan(50)
  expect(models.map(({ id }) => id).filter((id) => /:|^(us|eu|global)\./.test(id))).toEqual([])
  for (const id of [
    'qwen/qwen3-coder',
    'z-ai/glm-5',
    'mistralai/mistral-large-2512',
    'google/gemma-3-27b-it',
  ]) {
    expect(models.find((model) => model.id === id)?.endpoints).toHaveLength(1)
  }
})

describe('names', () => {
  test.each([
    ['anthropic.claude-opus-4-6-v1', 'anthropic/claude-opus-4-6'],
    ['anthropic.claude-haiku-4-5-20251001-v1:0', 'anthropic/claude-haiku-4-5'],
    ['amazon.nova-2-lite-v1:0', 'amazon/nova-2-lite-v1'],
    ['openai.gpt-oss-20b-1:0', 'openai/gpt-oss-20b'],
    ['minimax.minimax-m2.5', 'minimax/minimax-m2.5'],
    ['deepseek.r1-v1:0', 'deepseek/deepseek-r1'],
    ['no-author', 'no-author'],
  ])('%s is %s', (id, name) => expect(plainNameOf(id)).toBe(name))

  test('a model that has only profiles has the facts of its widest one', () => {
    const facts = readDocument({
      'amazon-bedrock': {
        models: {
          'us.lab.new-1': { name: 'New 1 (US)', cost: { input: 3 } },
          'global.lab.new-1': { name: 'New 1 (Global)', cost: { input: 2 } },
          'lab.plain': { name: 'Plain', cost: { input: 1 } },
        },
      },
    })
    const joined = joinProfiles(facts.get('amazon-bedrock') ?? [])
    expect(joined.map(({ id, name, cost, profiles }) => ({ id, name, cost, profiles }))).toEqual([
      {
        id: 'lab.new-1',
        name: 'New 1',
        cost: { input: 2 },
        profiles: { global: { input: 2 }, us: { input: 3 } },
      },
      { id: 'lab.plain', name: 'Plain', cost: { input: 1 }, profiles: {} },
    ])
  })
})
