import { describe, expect, test } from 'bun:test'
import { vendors } from '../../src/providers/compatible.ts'
import { readEntries } from '../../src/providers/entries.ts'
import { environmentProviders, vendorProvider } from '../../src/providers/environment.ts'
import { defaults } from './defaults.ts'

describe('the environment', () => {
  const AWS = { AWS_ACCESS_KEY_ID: 'AKIA1', AWS_SECRET_ACCESS_KEY: 'secret-1' }
  const REGION = { AWS_REGION: 'eu-west-1' }
  const read = (environment: Record<string, string>) => environmentProviders(environment, defaults)

  test('a key and a region configure it', () => {
    const { providers, problems } = read({ AWS_BEARER_TOKEN_BEDROCK: 'b', ...REGION })
    expect(problems).toEqual([])
    expect(providers).toMatchObject([
      {
        slug: 'amazon-bedrock',
        kind: 'bedrock',
        dialect: 'converse',
        baseUrl: 'https://bedrock-runtime.eu-west-1.amazonaws.com',
        region: 'eu-west-1',
        upstreamPrefixes: ['eu', 'global'],
        credentials: [{ id: 'AWS_BEARER_TOKEN_BEDROCK', secret: 'b' }],
      },
    ])
  })

  test('access keys do too, and are never shown', () => {
    const { providers } = read({ ...AWS, AWS_SESSION_TOKEN: 'session', AWS_DEFAULT_REGION: 'us-west-2' })
    expect(providers).toMatchObject([
      {
        baseUrl: 'https://bedrock-runtime.us-west-2.amazonaws.com',
        credentials: [
          {
            id: 'AWS_ACCESS_KEY_ID',
            secret: null,
            aws: { accessKeyId: 'AKIA1', secretAccessKey: 'secret-1', sessionToken: 'session' },
          },
        ],
      },
    ])
  })

  test('an API key wins over access keys, AWS_REGION before AWS_DEFAULT_REGION', () => {
    const all = { ...AWS, ...REGION, AWS_DEFAULT_REGION: 'us-east-1', AWS_BEARER_TOKEN_BEDROCK: 'b' }
    expect(read(all).providers).toMatchObject([
      { region: 'eu-west-1', credentials: [{ id: 'AWS_BEARER_TOKEN_BEDROCK' }] },
    ])
  })

  test.each([['AWS_BEDROCK_BASE_URL'], ['AWS_ENDPOINT_URL_BEDROCK_RUNTIME']])('%s moves it', (variable) => {
    const moved = { [variable]: 'http://127.0.0.1:9000/aws/' }
    expect(read({ ...AWS, ...REGION, ...moved }).providers).toMatchObject([
      { baseUrl: 'http://127.0.0.1:9000/aws', region: 'eu-west-1' },
    ])
    expect(read({ AWS_BEARER_TOKEN_BEDROCK: 'b', ...moved }).providers).toMatchObject([
      { baseUrl: 'http://127.0.0.1:9000/aws', upstreamPrefixes: ['global'] },
    ])
    expect(read({ ...AWS, ...moved })).toMatchObject({ providers: [], problems: [{ path: 'AWS_REGION' }] })
  })

  test.each([
    ['without a region', { ...AWS }],
    ['with half of the keys', { AWS_ACCESS_KEY_ID: 'AKIA1', ...REGION }],
    ['with a region alone', REGION],
    ['with blank keys', { AWS_ACCESS_KEY_ID: ' ', AWS_SECRET_ACCESS_KEY: ' ', ...REGION }],
  ])('%s it is not configured, without a problem', (_, environment) => {
    expect(read(environment)).toEqual({ providers: [], problems: [] })
  })

  test('an invalid value is reported with its variable', () => {
    const broken = { ...AWS, AWS_SECRET_ACCESS_KEY: 'sec\nret', ...REGION }
    expect(read(broken)).toEqual({
      providers: [],
      problems: [{ path: 'AWS_SECRET_ACCESS_KEY', message: expect.stringContaining('line break') }],
    })
    const { problems } = read({ ...AWS, AWS_REGION: 'evil.example/' })
    expect(problems).toMatchObject([{ path: 'AWS_REGION' }])
  })
})

describe('an entry', () => {
  const read = (entry: Record<string, unknown>, environment = {}) =>
    readEntries([{ slug: 'lab', dialect: 'converse', ...entry }], environment, defaults)

  test('has its address by its region, and keys from the environment', () => {
    const { providers, problems } = read(
      { aws: { region: 'ap-southeast-2', access_key_id: 'AKIA2', secret_access_key: '${LAB_SECRET}' } },
      { LAB_SECRET: 'secret-2' },
    )
    expect(problems).toEqual([])
    expect(providers).toMatchObject([
      {
        kind: 'bedrock',
        baseUrl: 'https://bedrock-runtime.ap-southeast-2.amazonaws.com',
        region: 'ap-southeast-2',
        upstreamPrefixes: ['au', 'apac', 'global'],
        credentials: [
          { id: 'lab', secret: null, aws: { accessKeyId: 'AKIA2', secretAccessKey: 'secret-2' } },
        ],
      },
    ])
  })

  test('may have a key of Bedrock, with a region or an address', () => {
    expect(read({ api_key: 'b', aws: { region: 'eu-north-1' } }).providers).toMatchObject([
      { baseUrl: 'https://bedrock-runtime.eu-north-1.amazonaws.com', credentials: [{ secret: 'b' }] },
    ])
    expect(
      read({ api_key: 'b', base_url: 'https://bedrock-runtime.us-east-1.amazonaws.com' }).providers,
    ).toMatchObject([{ region: 'us-east-1', upstreamPrefixes: ['us', 'global'] }])
  })

  test('uses Converse by default', () => {
    const { providers, problems } = readEntries(
      [{ slug: 'lab', api_key: 'b', aws: { region: 'eu-north-1' } }],
      {},
      defaults,
    )
    expect(problems).toEqual([])
    expect(providers).toMatchObject([{ kind: 'bedrock', dialect: 'converse' }])
  })

  test('calls its models by the names that it gives them', () => {
    const { models } = read({
      api_key: 'b',
      aws: { region: 'eu-north-1' },
      models: [{ id: 'a', upstream_id: 'eu.lab.a' }],
    })
    expect(models).toMatchObject([{ endpoint: { upstreamId: 'eu.lab.a' } }])
  })
})

test('a stored key has its region by its address', () => {
  const vendor = vendors.find(({ kind }) => kind === 'bedrock')
  if (vendor === undefined) throw new Error('Bedrock is not a vendor')
  const address = 'https://bedrock-runtime.eu-central-1.amazonaws.com'
  expect(vendorProvider(vendor, address, [{ id: 'row', secret: 'b' }], defaults)).toMatchObject({
    kind: 'bedrock',
    region: 'eu-central-1',
    upstreamPrefixes: ['eu', 'global'],
    credentials: [{ id: 'row', secret: 'b' }],
  })
})
