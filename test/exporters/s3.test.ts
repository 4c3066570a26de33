import { describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { fieldsOf } from '../../src/core/json.ts'
import { s3 } from '../../src/exporters/kinds/s3.ts'
import { recordedCalls } from './comparison.ts'
import { contextFor, fullRecord } from './records.ts'

const FIELDS = {
  accessKeyId: 'AKIAEXAMPLE',
  secretAccessKey: 'secret',
  bucketName: 'traces',
  prefix: 'openrouter-traces',
  pathTemplate: '{prefix}/{date}',
}

async function sent(
  fields: object = {},
  changes: Parameters<typeof contextFor>[1] = {},
  records = [fullRecord()],
) {
  const [call, ...more] = await s3.batchOf(records, contextFor({ ...FIELDS, ...fields }, changes))
  if (call === undefined || more.length > 0) throw new Error('not one call')
  return call
}

const rowsOf = ({ body }: Awaited<ReturnType<typeof sent>>) => {
  if (typeof body === 'string') throw new Error('not bytes')
  return new TextDecoder()
    .decode(Bun.gunzipSync(body))
    .trimEnd()
    .split('\n')
    .map((line) => fieldsOf(JSON.parse(line)))
}

const signedIn = (authorization = '') => /SignedHeaders=([^,]+)/.exec(authorization)?.[1]?.split(';') ?? []

describe('objects for S3', () => {
  test("are put as the vendor's own client puts them, but for what is meant", async () => {
    const [recorded] = recordedCalls('s3')
    const name = "a b+c'(1)"
    const call = await sent({
      endpoint: 'http://127.0.0.1:9000/',
      region: 'eu-central-1',
      sessionToken: 'session',
      pathTemplate: `{prefix}/{date}/${name}`,
    })
    const theirs = recorded?.headers ?? {}
    // The same letters are escaped in the same way; the query only names the operation.
    const folder = (path = '') => path.slice(0, path.indexOf('1%29') + 4)
    expect(folder(new URL(call.url).pathname)).toBe(folder(recorded?.path))
    expect(folder(recorded?.path)).toContain('a%20b%2Bc%27%281%29')
    const missing = Object.keys(theirs).filter((header) => !(header in call.headers))
    expect(missing.sort()).toEqual([
      // Of their retries.
      'amz-sdk-invocation-id',
      'amz-sdk-request',
      // The hash of the body is signed: x-amz-content-sha256.
      'x-amz-checksum-crc32',
      'x-amz-sdk-checksum-algorithm',
      'x-amz-user-agent',
    ])
    expect(Object.keys(call.headers).filter((header) => !(header in theirs))).toEqual([])
    expect(call.headers['x-amz-security-token']).toBe(theirs['x-amz-security-token'] ?? '')
    expect(call.headers['content-type']).toBe(theirs['content-type'] ?? '')
    const bytes = Buffer.from(String(recorded?.body), 'base64')
    expect(theirs['x-amz-content-sha256']).toBe(createHash('sha256').update(bytes).digest('hex'))
    expect(call.headers['x-amz-content-sha256']).toBe(createHash('sha256').update(call.body).digest('hex'))
    expect(signedIn(call.headers['authorization'])).toEqual(
      expect.arrayContaining(['host', 'x-amz-content-sha256', 'x-amz-date', 'x-amz-security-token']),
    )
    expect(call.headers['authorization']).toContain(
      'Credential=AKIAEXAMPLE/20261123/eu-central-1/s3/aws4_request',
    )
  })

  test('are gzipped lines, a generation each', async () => {
    const call = await sent({}, {}, [fullRecord(), fullRecord({ id: 'gen-2', content: null })])
    expect(call.method).toBe('PUT')
    expect(call.gzip).toBeUndefined()
    const [first, second, ...more] = rowsOf(call)
    expect(more).toEqual([])
    expect(first).toMatchObject({
      generation_id: fullRecord().id,
      timestamp: '2026-11-23T08:00:00.000Z',
      total_cost: '0.000125000',
      output: { completion: 'It rains in Paris, at 14 °C.' },
      metadata: { team: 'blue' },
    })
    expect(second).toMatchObject({ generation_id: 'gen-2', input: null })
  })

  test.each([
    [{}, 'https://traces.s3.us-east-1.amazonaws.com/openrouter-traces/2026-11-23/'],
    [
      { region: 'eu-central-1' },
      'https://traces.s3.eu-central-1.amazonaws.com/openrouter-traces/2026-11-23/',
    ],
    [{ region: 'cn-north-1' }, 'https://traces.s3.cn-north-1.amazonaws.com.cn/'],
    [{ bucketName: 'my.traces' }, 'https://s3.us-east-1.amazonaws.com/my.traces/openrouter-traces/'],
    [{ endpoint: 'http://127.0.0.1:9000/' }, 'http://127.0.0.1:9000/traces/openrouter-traces/'],
    [
      { pathTemplate: '{destination}/{workspace}/{date}/{hour}', prefix: 'x' },
      `https://traces.s3.us-east-1.amazonaws.com/${contextFor({}).destinationId}/${fullRecord().workspace.id}/2026-11-23/08/`,
    ],
  ])('with %p begin with %s', async (fields, beginning) => {
    expect((await sent(fields)).url).toStartWith(beginning)
  })

  test('of R2 are signed for its only region', async () => {
    const { headers } = await sent({ endpoint: 'https://account.r2.cloudflarestorage.com' })
    expect(headers['authorization']).toContain('/auto/s3/aws4_request')
  })

  test('have the same name in a repeat, another day too, and another one for anything else', async () => {
    const { url } = await sent()
    expect(url).toMatch(/\/0000000000000064-0000000000000066-[0-9a-f]{8}\.ndjson\.gz$/)
    expect((await sent({}, { isRepeat: true, now: Date.UTC(2026, 11, 1) })).url).toBe(url)
    for (const changes of [{ first: 65 }, { last: 67 }, { destinationId: 'other' }]) {
      expect((await sent({}, changes)).url).not.toBe(url)
    }
    expect((await sent({}, {}, [fullRecord({ id: 'gen-2' })])).url).not.toBe(url)
  })

  test('of a test overwrite each other', async () => {
    const of = async (id: string) => (await sent({}, { isTest: true }, [fullRecord({ id })])).url
    expect(await of('gen-1')).toBe(await of('gen-2'))
    expect(await of('gen-1')).toEndWith(`/test-${contextFor({}).destinationId}.ndjson.gz`)
  })

  test('have the headers of the operator, signed', async () => {
    const headers = { 'X-Amz-Server-Side-Encryption': 'aws:kms' }
    const call = await sent({}, { config: { fields: FIELDS, headers } })
    expect(call.headers).toMatchObject({ 'x-amz-server-side-encryption': 'aws:kms' })
    expect(signedIn(call.headers['authorization'])).toContain('x-amz-server-side-encryption')
  })
})

describe('a reply of S3', () => {
  const meaningOf = (status: number, code: string, headers: Record<string, string> = {}) =>
    s3.meaningOf?.(
      {
        status,
        headers: new Headers(headers),
        body: new TextEncoder().encode(
          `<?xml version="1.0"?>\n<Error><Code>${code}</Code><Message>canary</Message></Error>`,
        ),
      },
      contextFor(FIELDS),
    )

  test.each([
    [200, '', 'accepted', ''],
    [403, 'SignatureDoesNotMatch', 'unauthorized', 'signature'],
    [403, 'AccessDenied', 'unauthorized', 'does not allow'],
    [400, 'ExpiredToken', 'unauthorized', 'expired'],
    [404, 'NoSuchBucket', 'retry', 'create it'],
    [403, 'RequestTimeTooSkewed', 'retry', 'clock'],
    [503, 'SlowDown', 'retry', 'rate'],
    [400, 'EntityTooLarge', 'too-large', 'size'],
    [400, 'Canary', 'refused', '400'],
    [403, 'canary', 'unauthorized', '403'],
  ] as const)('of %i %s is %s', (status, code, outcome, words) => {
    const meaning = meaningOf(status, code)
    expect(meaning).toMatchObject({ outcome })
    if (words !== '') expect(meaning).toHaveProperty('sentence', expect.stringContaining(words))
    expect(JSON.stringify(meaning)).not.toContain('anary')
  })

  test('names the region of the bucket, if it looks like one', () => {
    expect(meaningOf(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'eu-west-3' })).toMatchObject({
      outcome: 'unauthorized',
      sentence: expect.stringContaining('The bucket is in eu-west-3'),
    })
    const odd = meaningOf(301, 'PermanentRedirect', { 'x-amz-bucket-region': 'canary <b>' })
    expect(JSON.stringify(odd)).not.toContain('canary')
  })
})
