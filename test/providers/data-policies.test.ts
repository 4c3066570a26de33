import { describe, expect, test } from 'bun:test'
import { cloudVendors, vendors } from '../../src/providers/compatible.ts'
import { publishedAt, publishedFacts, READ_AT } from '../../src/providers/data-policies.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { environmentProviders } from '../../src/providers/environment.ts'
import { provider } from '../inference/fixture.ts'
import { defaults } from './defaults.ts'

describe('every row of the published facts', () => {
  for (const facts of publishedFacts) {
    test(`${facts.slug}: is of a vendor, has sources, says something and does not contradict itself`, () => {
      const slugs = [...vendors, ...cloudVendors].map(({ slug }) => slug)
      expect(slugs).toContain(facts.slug)
      for (const source of facts.sources) expect(URL.parse(source)?.protocol).toBe('https:')
      const { training, retentionDays, zdr } = facts.dataPolicy
      expect([training, retentionDays, zdr, facts.note].some((value) => value !== undefined)).toBe(true)
      expect(facts.readAt ?? READ_AT).toMatch(/^\d{4}-\d{2}-\d{2}$/)
      if (zdr === 'always') expect([training ?? false, retentionDays]).toEqual([false, 0])
    })
  }

  test('each vendor has one row', () =>
    expect(new Set(publishedFacts.map(({ slug }) => slug)).size).toBe(publishedFacts.length))
})

describe('published facts hold at the vendor\u2019s hosts', () => {
  const rows: [baseUrl: string, slug: string | undefined][] = [
    ['https://api.openai.com/v1', 'openai'],
    ['https://eu.api.openai.com/v1', 'openai'],
    ['https://openai.example.com/v1', undefined],
    ['https://notapi.openai.com.example.org/v1', undefined],
    ['http://127.0.0.1:9/v1', undefined],
  ]
  for (const [baseUrl, slug] of rows) {
    test(`${baseUrl}: ${slug ?? 'nothing is known'}`, () =>
      expect(publishedAt(provider('openai', { baseUrl }))?.slug).toBe(slug))
  }

  test('a regional host keeps prompts in its region', () => {
    const regionsAt = (host: string) =>
      publishedAt(provider('openai', { baseUrl: `https://${host}/v1` }))?.regions
    expect([regionsAt('eu.api.openai.com'), regionsAt('us.api.openai.com')]).toEqual([['eu'], ['us']])
    expect([regionsAt('api.openai.com'), regionsAt('jp.api.openai.com')]).toEqual([undefined, undefined])
  })

  test('each row is found at the address that its vendor has by default', () => {
    const environment: Record<string, string> = {
      AWS_REGION: 'us-east-1',
      CLOUDFLARE_ACCOUNT_ID: 'x',
      SNOWFLAKE_ACCOUNT: 'x',
      AZURE_RESOURCE_NAME: 'x',
      AZURE_OPENAI_API_KEY: 'x',
      GOOGLE_VERTEX_API_KEY: 'x',
      ...Object.fromEntries(vendors.map(({ keys: [key] }) => [key, 'x'])),
    }
    const { providers } = environmentProviders(environment, defaults)
    const found = providers.flatMap((one) => {
      const slug = publishedAt(one)?.slug
      return slug === undefined ? [] : [[one.slug, slug]]
    })
    const named = found.map(([slug]) => slug)
    expect(found.every(([at, slug]) => at === slug)).toBe(true)
    expect(publishedFacts.map(({ slug }) => slug).filter((slug) => !named.includes(slug))).toEqual([])
  })

  test('Vertex has one row for all of its regions', () => {
    for (const host of ['aiplatform', 'us-east5-aiplatform', 'aiplatform.eu.rep']) {
      const baseUrl = `https://${host}.googleapis.com/v1`
      const found = publishedAt(provider('v', { kind: 'vertex', baseUrl }))
      expect([found?.slug, found?.regions]).toEqual([
        'google-vertex',
        host === 'aiplatform.eu.rep' ? ['eu'] : undefined,
      ])
    }
  })
})

describe('declarations in a providers: entry', () => {
  const read = (facts: Record<string, unknown>, model: Record<string, unknown> = {}) =>
    readEntries(
      [{ slug: 'lab', base_url: 'https://lab.example/v1', ...facts, models: [{ id: 'tiny', ...model }] }],
      {},
      defaults,
    )

  test('hold for the provider, or for one of its models', () => {
    const { providers, models, problems } = read(
      { data_policy: { training: false, retention_days: 7 }, regions: ['eu'], moderated: true },
      { data_policy: { zdr: 'always' }, quantization: 'FP8', moderated: false },
    )
    expect(problems).toEqual([])
    expect(providers[0]?.declared).toEqual({
      dataPolicy: { training: false, retentionDays: 7 },
      regions: ['eu'],
      isModerated: true,
    })
    expect(models[0]?.endpoint).toMatchObject({
      dataPolicy: { zdr: 'always' },
      quantization: 'fp8',
      isModerated: false,
    })
  })

  const wrong: [name: string, facts: Record<string, unknown>, path: string, message: string][] = [
    ['an unknown word', { data_policy: { zdr: 'sometimes' } }, 'data_policy.zdr', 'must be one of always'],
    [
      'a negative number',
      { data_policy: { retention_days: -1 } },
      'data_policy.retention_days',
      'must be a whole',
    ],
    ['half a day', { data_policy: { retention_days: 0.5 } }, 'data_policy.retention_days', 'must be a whole'],
    [
      'a word for a truth value',
      { data_policy: { training: 'no' } },
      'data_policy.training',
      'must be true or',
    ],
    ['an unknown key', { data_policy: { trains: false } }, 'data_policy.trains', 'is not a known key'],
    ['an unknown region', { regions: ['mars'] }, 'regions[0]', 'must be one of eu, us'],
    ['moderation as a word', { moderated: 'yes' }, 'moderated', 'must be true or false'],
    [
      'zero retention for 30 days',
      { data_policy: { zdr: 'always', retention_days: 30 } },
      'data_policy.retention_days',
      'contradicts zdr',
    ],
    [
      'zero retention with training',
      { data_policy: { zdr: 'always', training: true } },
      'data_policy.training',
      'contradicts zdr',
    ],
  ]
  for (const [name, facts, path, message] of wrong) {
    test(`${name} is a problem, of a provider and of its model`, () => {
      const ofProvider = read(facts).problems
      expect(ofProvider.map((problem) => problem.path)).toEqual([`providers[0].${path}`])
      expect(ofProvider[0]?.message).toStartWith(message)
      const ofModel = read({}, facts).problems
      expect(ofModel.map((problem) => problem.path)).toEqual([`providers[0].models[0].${path}`])
    })
  }
})
