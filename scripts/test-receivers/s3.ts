import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DestinationConfig } from '../../src/exporters/destination-types.ts'
import { deliver, inflated, records } from './deliver.ts'
import { answers, cache, ended, equal, freePort, must, type Receiver } from './receiver.ts'

/** An S3 server that checks signatures and stores objects as files. Its build takes some minutes, once. */
const MODULE = 'github.com/versity/versitygw/cmd/versitygw'
const VERSION = 'v1.8.0'
const PREFIX = "open router/+('a')"

export const s3: Receiver = {
  name: 'S3 (versitygw)',
  async start(folder) {
    const gopath = join(cache, 'gopath')
    const program = join(gopath, 'bin/versitygw')
    if (!existsSync(program)) {
      await must(['go', 'install', `${MODULE}@${VERSION}`], {
        env: { GOPATH: gopath, GOTOOLCHAIN: 'local', GOFLAGS: '-buildvcs=false -modcacherw' },
      })
    }
    const root = join(folder, 's3')
    mkdirSync(join(root, 'traces'), { recursive: true })
    const port = await freePort()
    const child = Bun.spawn([program, '--port', `127.0.0.1:${port}`, 'posix', '--nometa', root], {
      env: { ...process.env, ROOT_ACCESS_KEY: 'AKIAEXAMPLE', ROOT_SECRET_KEY: 'secret+/key' },
      stdout: 'ignore',
      stderr: 'ignore',
    })
    const url = `http://127.0.0.1:${port}`
    await answers(url, child)
    return { version: VERSION, check: () => check(url, join(root, 'traces')), stop: () => ended(child) }
  },
}

const configFor = (endpoint: string, changes: Record<string, string> = {}): DestinationConfig => ({
  fields: {
    accessKeyId: 'AKIAEXAMPLE',
    secretAccessKey: 'secret+/key',
    bucketName: 'traces',
    endpoint,
    prefix: PREFIX,
    pathTemplate: '{prefix}/{date}/{hour}',
    ...changes,
  },
  headers: null,
})

async function check(endpoint: string, bucket: string): Promise<string[]> {
  const outcome = async (changes: Record<string, string>) =>
    (await deliver('s3', configFor(endpoint, changes))).outcome
  equal('a wrong secret', await outcome({ secretAccessKey: 'x' }), 'unauthorized')
  equal('an unknown access key', await outcome({ accessKeyId: 'AKIAOTHER' }), 'unauthorized')
  equal('a wrong region', await outcome({ region: 'eu-west-3' }), 'unauthorized')
  equal('a missing bucket', await outcome({ bucketName: 'missing' }), 'retry')
  const config = configFor(endpoint)
  equal('a batch', await deliver('s3', config), { outcome: 'accepted' })
  equal('its repeat', await deliver('s3', config, records, { isRepeat: true }), { outcome: 'accepted' })
  equal('another batch', await deliver('s3', config, records, { first: 67, last: 69 }), {
    outcome: 'accepted',
  })
  const folder = join(bucket, PREFIX, '2026-11-23/08')
  const names = readdirSync(folder).sort()
  equal(
    'the objects',
    names.map((name) => name.slice(0, 33)),
    ['0000000000000064-0000000000000066', '0000000000000067-0000000000000069'],
  )
  const lines = inflated(readFileSync(join(folder, names[0] ?? '')))
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
  equal(
    'the lines',
    lines.map(({ generation_id: id }) => id),
    records.map(({ id }) => id),
  )
  return [
    'signatures are accepted for names with blanks, "+", "(" and quotes; a wrong secret, key or region is refused',
    'a missing bucket and a refusal have different errors',
    'a repeat overwrites its object, another batch has its own',
    'objects are gzipped lines, a generation each',
  ]
}
