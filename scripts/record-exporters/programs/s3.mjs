import { gzipSync } from 'node:zlib'
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3'
import { record, recorder } from './generation.mjs'

const client = new S3Client({
  endpoint: recorder,
  region: 'eu-central-1',
  forcePathStyle: true,
  credentials: { accessKeyId: 'AKIAEXAMPLE', secretAccessKey: 'secret', sessionToken: 'session' },
})
await client.send(
  new PutObjectCommand({
    Bucket: 'traces',
    Key: "openrouter-traces/2026-11-23/a b+c'(1).ndjson.gz",
    Body: gzipSync(`${JSON.stringify({ generation_id: record.id })}\n`),
    ContentType: 'application/gzip',
  }),
)
