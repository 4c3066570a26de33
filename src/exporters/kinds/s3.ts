/**
 * Amazon S3 and whatever speaks its API: one object of gzipped JSON lines a batch, by PutObject
 * (docs.aws.amazon.com/AmazonS3/latest/API/API_PutObject.html and @aws-sdk/client-s3 3.1169, read on 2026-11-23).
 */
import { createHash } from 'node:crypto'
import { AwsV4Signer } from 'aws4fetch'
import { addressAt } from '../address.ts'
import { DESTINATION_TYPES } from '../destination-types.ts'
import { headersOf } from '../headers.ts'
import { jsonText } from '../json-text.ts'
import type { BatchContext, DeliveryReply, DestinationCall, DestinationKind, Meaning } from '../kind.ts'
import { meaningOfStatus } from '../meaning.ts'
import type { ExportRecord } from '../record.ts'
import { COLUMNS, iso, valueIn } from '../row.ts'
import { batchUuidOf } from '../uuid.ts'

export const s3: DestinationKind = {
  type: 's3',
  fields: DESTINATION_TYPES.s3,
  limits: { records: 5_000, bytes: 16_000_000, waitMs: 4_000 },
  batchOf: async (records, context) => [await put(records, context)],
  meaningOf,
}

async function put(records: readonly ExportRecord[], context: BatchContext): Promise<DestinationCall> {
  const { config, now } = context
  const body = Bun.gzipSync(records.map((record) => `${lineOf(record)}\n`).join(''))
  const { accessKeyId = '', secretAccessKey = '', sessionToken } = config.fields
  const url = addressOf(records, context)
  const signer = new AwsV4Signer({
    method: 'PUT',
    url,
    headers: headersOf(config, { 'x-amz-content-sha256': sha256(body) }, 'application/gzip'),
    body,
    accessKeyId,
    secretAccessKey,
    ...(sessionToken === undefined ? {} : { sessionToken }),
    service: 's3',
    region: regionOf(config.fields),
    datetime: iso(now).replace(/[:-]|\.\d{3}/g, ''),
  })
  const { headers } = await signer.sign()
  return { url, method: 'PUT', headers: Object.fromEntries(headers), body }
}

const sha256 = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex')

/** The columns of the tables as members, in lower case; money as text, because it is exact. */
const lineOf = (record: ExportRecord): string =>
  jsonText(Object.fromEntries(COLUMNS.map((column) => [column.name.toLowerCase(), valueIn(column, record)])))

type Fields = BatchContext['config']['fields']

const regionOf = ({ region, endpoint }: Fields): string => {
  if (region !== undefined) return region
  return endpoint !== undefined && new URL(endpoint).hostname.endsWith('.r2.cloudflarestorage.com')
    ? 'auto'
    : 'us-east-1'
}

/**
 * With an endpoint the bucket is in the path: other servers have no name for each bucket. So it is for a bucket with dots,
 * whose name no certificate of AWS covers.
 */
function addressOf(records: readonly ExportRecord[], context: BatchContext): string {
  const { fields } = context.config
  const { bucketName = '', endpoint } = fields
  const key = keyOf(records, context).split('/').map(escaped).join('/')
  if (endpoint !== undefined) return addressAt(endpoint, `/${bucketName}/${key}`)
  const region = regionOf(fields)
  const domain = `s3.${region}.amazonaws.com${region.startsWith('cn-') ? '.cn' : ''}`
  return bucketName.includes('.')
    ? `https://${domain}/${bucketName}/${key}`
    : `https://${bucketName}.${domain}/${key}`
}

/** As signatures spell it (RFC 3986): `+` and `'` are escaped too. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (letter) => `%${letter.charCodeAt(0).toString(16).toUpperCase()}`,
  )

/**
 * The name comes from the batch, and the date from its first event, so a repeat overwrites its object. The end of the
 * name is the batch's own: positions are those of a gateway, and several destinations may share a bucket and a prefix.
 */
function keyOf(records: readonly ExportRecord[], context: BatchContext): string {
  const { config, destinationId, first, last, isTest } = context
  const [record] = records
  const at = iso(record?.endedAt ?? 0)
  const values: Readonly<Record<string, string>> = {
    prefix: config.fields['prefix'] ?? '',
    date: at.slice(0, 10),
    hour: at.slice(11, 13),
    workspace: record?.workspace.id ?? '',
    destination: destinationId,
  }
  const folder = (config.fields['pathTemplate'] ?? '{prefix}/{date}').replace(
    /\{([a-z]{1,20})\}/g,
    (_, name: string) => values[name] ?? '',
  )
  const name = isTest
    ? `test-${destinationId}`
    : [padded(first), padded(last), batchUuidOf(records, context).slice(0, 8)].join('-')
  return `${folder}/${name}.ndjson.gz`
}

/** As long as the largest position, so that names sort by it. */
const padded = (position: number): string => String(position).padStart(16, '0')

const CREDENTIAL = new Map([
  ['AccessDenied', 'does not allow this access key to write to the bucket'],
  ['InvalidAccessKeyId', 'does not know the access key'],
  ['SignatureDoesNotMatch', 'refuses the signature: the secret access key or the region is wrong'],
  ['ExpiredToken', 'refuses the session token: it has expired'],
  ['InvalidToken', 'refuses the session token'],
  ['AuthorizationHeaderMalformed', 'expects another region: correct config.region'],
  ['PermanentRedirect', 'has the bucket in another region: correct config.region or config.endpoint'],
  ['AllAccessDisabled', 'has locked the bucket'],
  ['InvalidBucketName', 'does not accept the name of the bucket'],
])
const LATER = new Map([
  ['NoSuchBucket', 'has no such bucket: create it'],
  ['SlowDown', 'limits the rate of requests'],
  ['RequestTimeout', 'has waited too long for the object'],
  ['RequestTimeTooSkewed', 'has another time than this machine: correct its clock'],
  ['OperationAborted', 'is changing the bucket'],
])

function meaningOf(reply: DeliveryReply, context: BatchContext): Meaning {
  const code = codeOf(reply)
  const meaning = meaningOfStatus(reply, context)
  if (code === null || meaning.outcome === 'accepted') return meaning
  if (code === 'EntityTooLarge') return { outcome: 'too-large', sentence: 'refuses objects of this size' }
  const number = ` (${reply.status} ${code})`
  const refusal = CREDENTIAL.get(code)
  if (refusal !== undefined)
    return { outcome: 'unauthorized', sentence: refusal + number + regionHint(reply) }
  const later = LATER.get(code)
  if (later === undefined) return meaning
  return {
    outcome: 'retry',
    sentence: later + number,
    ...('afterMs' in meaning && meaning.afterMs !== undefined ? { afterMs: meaning.afterMs } : {}),
  }
}

/** The `<Code>` of an error; null for one that is not in the tables. */
function codeOf({ body }: DeliveryReply): string | null {
  const code = /<Code>([A-Za-z]{1,40})<\/Code>/.exec(new TextDecoder().decode(body.subarray(0, 4_096)))?.[1]
  return code !== undefined && (code === 'EntityTooLarge' || CREDENTIAL.has(code) || LATER.has(code))
    ? code
    : null
}

/** AWS names the region of a bucket in a header. Its form is checked, since it is a stranger's text. */
function regionHint({ headers }: DeliveryReply): string {
  const region = headers.get('x-amz-bucket-region')
  return region !== null && /^[a-z]{2,4}(?:-[a-z]{1,12}){1,2}-\d{1,2}$/.test(region)
    ? `. The bucket is in ${region}`
    : ''
}
