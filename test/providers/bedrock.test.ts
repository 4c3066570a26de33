import { describe, expect, test } from 'bun:test'
import { createHash, createHmac } from 'node:crypto'
import type { AwsKeys, CredentialRecord, ProviderRecord } from '../../src/core/snapshot.ts'
import { bedrock, regionFields, regionIn, signCall } from '../../src/providers/bedrock.ts'
import { defaults } from './defaults.ts'

const KEYS: AwsKeys = {
  accessKeyId: 'AKIDEXAMPLE',
  secretAccessKey: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
}

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The signature as AWS computes it from what arrived: written once more, from AWS's description. */
function expectedSignature(
  url: string,
  headers: Record<string, string>,
  body: string,
  region: string,
): string {
  const { pathname, host } = new URL(url)
  const names = /SignedHeaders=([^,]+)/.exec(headers['authorization'] ?? '')?.[1] ?? ''
  const canonicalHeaders = names
    .split(';')
    .map((name) => `${name}:${name === 'host' ? host : headers[name]}\n`)
    .join('')
  // Each segment of the path as it arrived is encoded once more.
  const path = pathname
    .split('/')
    .map((segment) =>
      encodeURIComponent(segment).replace(
        /[!'()*]/g,
        (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`,
      ),
    )
    .join('/')
  const canonical = ['POST', path, '', canonicalHeaders, names, sha256(body)].join('\n')
  const time = headers['x-amz-date'] ?? ''
  const scope = `${time.slice(0, 8)}/${region}/bedrock/aws4_request`
  const key = scope.split('/').reduce<string | Buffer>(hmac, `AWS4${KEYS.secretAccessKey}`)
  return hmac(key, ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')).toString('hex')
}

function recordOf(credential: CredentialRecord, fields: Partial<ProviderRecord> = {}): ProviderRecord {
  return {
    slug: 'lab',
    name: 'Lab',
    kind: 'bedrock',
    dialect: 'converse',
    baseUrl: 'https://bedrock-runtime.eu-central-1.amazonaws.com',
    credentials: [credential],
    ...defaults,
    quirks: {},
    isLocal: false,
    ...fields,
  }
}

describe('the published test suite of Signature Version 4', () => {
  const NOW = new Date('2015-08-30T12:36:00Z')
  const SESSION =
    'AQoDYXdzEPT//////////wEXAMPLEtc764bNrC9SAPBSM22wDOk4x4HIZ8j4FZTwdQWLWsKWHGBuFqwAeMicRXmxfpSPfIeoIYRqTflfKD8YUuwthAx7mSEI/qkPpKPi/kMcGdQrmGdeehM4IC1NtBmUpp2wUE8phUZampKsburEDy0KPkyQDYwT7WZ0wq5VSXDvp75YU9HFvlRd8Tx6q6fE8YQcHNVXAkiY9q6d+xo0rKwT38xVqr7ZD0u0iPPkUL64lIZbqBAz+scqKmlzm8FDrypNC9Yjc8fPOLn9FX9KSYvKTr4rvx3iSIlTJabIQwj2ICCR/oLxBA=='

  test.each([
    ['get-vanilla', 'GET', '/', {}, KEYS, '5fa00fa31553b73ebf1942676e86291e8372ff2a2260956d9b8aae1d763fbf31'],
    [
      'post-vanilla',
      'POST',
      '/',
      {},
      KEYS,
      '5da7c1a2acd57cee7505fc6676e4e544621c30862966e37dddb68e92efbe5d6b',
    ],
    [
      'get-vanilla-query-order-key-case',
      'GET',
      '/?Param2=value2&Param1=value1',
      {},
      KEYS,
      'b97d918cfa904a5beff61c982a1b6f458b799221646efd99d3219ec94cdf2500',
    ],
    [
      'get-unreserved',
      'GET',
      '/-._~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz',
      {},
      KEYS,
      '07ef7494c76fa4850883e2b006601f940f8a34d404d0cfa977f52a65bbf5f24f',
    ],
    [
      'post-header-value-case',
      'POST',
      '/',
      { 'my-header1': 'VALUE1' },
      KEYS,
      'cdbc9802e29d2942e5e10b5bccfdd67c5f22c7c4e8ae67b53629efa58b974b7d',
    ],
    [
      'post-sts-header-before',
      'POST',
      '/',
      {},
      { ...KEYS, sessionToken: SESSION },
      '85d96828115b5dc0cfc3bd16ad9e210dd772bbebba041836c64533a82be05ead',
    ],
  ] as const)('%s', async (_, method, path, headers, keys, signature) => {
    const call = { method, url: `https://example.amazonaws.com${path}`, headers: { ...headers }, body: '' }
    const signed = await signCall(call, keys, { service: 'service', region: 'us-east-1' }, NOW)
    expect(signed.headers['authorization']).toEndWith(`Signature=${signature}`)
    expect(signed.headers['x-amz-date']).toBe('20150830T123600Z')
    expect(signed.headers['x-amz-security-token']).toBe('sessionToken' in keys ? SESSION : undefined)
    expect(JSON.stringify(signed)).not.toContain(KEYS.secretAccessKey)
  })
})

describe('a call', () => {
  const body = { messages: [{ role: 'user', content: [{ text: 'Grüße 🛠' }] }] }
  const ARN = 'arn:aws:bedrock:eu-central-1:123456789012:application-inference-profile/abc123'

  test.each([
    ['a model', 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'],
    ['the resource name of a profile', ARN],
    ['a name with signs that stay as they are', "a!b'c(d)e*f~g"],
  ])('to %s is signed for its path, encoded twice', async (_, model) => {
    const credential = { id: 'lab', secret: null, aws: KEYS }
    const path = `/model/${encodeURIComponent(model)}/converse-stream`
    const call = await bedrock.prepare(recordOf(credential), credential, { path, headers: {}, body })
    expect(call.url).toBe(`https://bedrock-runtime.eu-central-1.amazonaws.com${path}`)
    const text = String(call.body)
    expect(JSON.parse(text)).toEqual(body)
    const { authorization = '' } = call.headers
    expect(authorization).toContain('Credential=AKIDEXAMPLE/')
    expect(authorization).toContain('/eu-central-1/bedrock/aws4_request')
    expect(authorization).toEndWith(
      `Signature=${expectedSignature(call.url, call.headers, text, 'eu-central-1')}`,
    )
    expect(call.headers['content-type']).toBe('application/json')
    expect(JSON.stringify(call)).not.toContain(KEYS.secretAccessKey)
  })

  test('with a session has its token, signed', async () => {
    const credential = { id: 'lab', secret: null, aws: { ...KEYS, sessionToken: 'session-1' } }
    const call = await bedrock.prepare(recordOf(credential), credential, {
      path: '/model/a/converse',
      headers: {},
      body,
    })
    expect(call.headers['x-amz-security-token']).toBe('session-1')
    expect(call.headers['authorization']).toContain('x-amz-security-token')
  })

  test('at another address is signed for the configured region', async () => {
    const credential = { id: 'lab', secret: null, aws: KEYS }
    const record = recordOf(credential, { baseUrl: 'http://127.0.0.1:9/proxy', region: 'us-west-2' })
    const call = await bedrock.prepare(record, credential, { path: '/model/a/converse', headers: {}, body })
    expect(call.url).toBe('http://127.0.0.1:9/proxy/model/a/converse')
    expect(call.headers['authorization']).toEndWith(
      `Signature=${expectedSignature(call.url, call.headers, String(call.body), 'us-west-2')}`,
    )
  })

  test('sends a key of Bedrock', async () => {
    const credential = { id: 'lab', secret: 'bedrock-key' }
    const call = await bedrock.prepare(recordOf(credential), credential, {
      path: '/model/a/converse',
      headers: {},
      body,
    })
    expect(call.headers).toEqual({ 'content-type': 'application/json', authorization: 'Bearer bedrock-key' })
  })

  test('to a model whose name leads to another path is rejected', async () => {
    const credential = { id: 'lab', secret: null, aws: KEYS }
    const path = `/model/${encodeURIComponent('..')}/converse`
    const prepared = async () =>
      bedrock.prepare(recordOf(credential), credential, { path, headers: {}, body })
    await expect(prepared()).rejects.toMatchObject({ status: 400 })
  })
})

describe('regions', () => {
  test.each([
    ['https://bedrock-runtime.us-east-1.amazonaws.com', 'us-east-1'],
    ['https://bedrock-runtime-fips.us-gov-west-1.amazonaws.com', 'us-gov-west-1'],
    ['https://bedrock-runtime.cn-north-1.amazonaws.com.cn', 'cn-north-1'],
    ['https://bedrock-runtime.eu-west-1.api.aws', 'eu-west-1'],
    ['https://bedrock-runtime.evil.amazonaws.com', undefined],
    ['https://bedrock-runtime.us-east-1.amazonaws.com.evil.example', undefined],
    ['http://127.0.0.1:4000', undefined],
  ])('%s is in %s', (url, region) => expect(regionIn(url)).toBe(region))

  test.each([
    ['us-east-1', ['us', 'global']],
    ['us-gov-west-1', ['us-gov']],
    ['ap-northeast-3', ['jp', 'apac', 'global']],
    ['ap-southeast-4', ['au', 'apac', 'global']],
    ['me-central-1', ['global']],
    [undefined, ['global']],
  ])('%s calls %p', (region, prefixes) => expect(regionFields(region).upstreamPrefixes).toEqual(prefixes))
})
