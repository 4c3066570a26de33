import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { DestinationConfig } from '../../src/exporters/destination-types.ts'
import { type ReadTraces, readTheirs } from '../../test/exporters/otlp.ts'
import { deliver } from './deliver.ts'
import { answers, cache, ended, equal, freePort, must, type Receiver } from './receiver.ts'

/** A version all of whose modules are to be had. */
const VERSION = '0.160.0'
const MODULE = 'go.opentelemetry.io/collector'
const folder = join(cache, `otelcol-${VERSION}`)
const binary = join(folder, 'dist/otelcol')

/** What its own builder makes a collector of: a receiver of OTLP, and an exporter that sends on what was understood. */
const BUILDER = `dist:
  name: otelcol
  output_path: ./dist
  version: ${VERSION}
receivers:
  - gomod: ${MODULE}/receiver/otlpreceiver v${VERSION}
exporters:
  - gomod: ${MODULE}/exporter/otlphttpexporter v${VERSION}
`

const configOf = (port: number, sink: string): string => `receivers:
  otlp:
    protocols:
      http:
        endpoint: 127.0.0.1:${port}
exporters:
  otlphttp:
    traces_endpoint: ${sink}
    encoding: json
    compression: none
    sending_queue:
      enabled: false
service:
  telemetry:
    metrics:
      level: none
  pipelines:
    traces:
      receivers: [otlp]
      exporters: [otlphttp]
`

/** SLUICE_OTELCOL names a collector that is there; without it one is built. */
export const otelCollector: Receiver = {
  name: 'OpenTelemetry collector',
  async start(work) {
    const given = process.env.SLUICE_OTELCOL
    if (given === undefined && !existsSync(binary)) await build()
    const received: ReadTraces[] = []
    const sink = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      async fetch(request) {
        const headers = { 'content-type': request.headers.get('content-type') ?? '' }
        received.push(readTheirs({ headers, body: await request.bytes() }))
        return new Response('{}', { headers: { 'content-type': 'application/json' } })
      },
    })
    const port = await freePort()
    const file = join(work, 'collector.yaml')
    await Bun.write(file, configOf(port, `http://127.0.0.1:${sink.port}/v1/traces`))
    const command = [given ?? binary, '--config', file]
    const child = Bun.spawn(command, { stdout: 'ignore', stderr: Bun.file(join(work, 'collector.log')) })
    await answers(`http://127.0.0.1:${port}`, child)
    return {
      version: given === undefined ? VERSION : (await must([given, '--version'])).trim(),
      check: () => check(port, received),
      async stop() {
        await ended(child)
        await sink.stop(true)
      },
    }
  },
}

async function build(): Promise<void> {
  await must(['go', 'install', `${MODULE}/cmd/builder@v${VERSION}`], {
    cwd: folder,
    env: { GOBIN: join(folder, 'bin') },
  })
  await Bun.write(join(folder, 'builder.yaml'), BUILDER)
  await must([join(folder, 'bin/builder'), '--config', 'builder.yaml'], { cwd: folder })
}

async function check(port: number, received: ReadTraces[]): Promise<string[]> {
  const endpoint = `http://127.0.0.1:${port}`
  const protobuf: DestinationConfig = { fields: { endpoint }, headers: null }
  const json: DestinationConfig = { ...protobuf, headers: { 'x-sluice-encoding': 'json' } }
  equal('protobuf', await deliver('otel-collector', protobuf), { outcome: 'accepted' })
  equal('JSON', await deliver('otel-collector', json), { outcome: 'accepted' })
  equal('a webhook', await deliver('webhook', { fields: { url: `${endpoint}/v1/traces` }, headers: null }), {
    outcome: 'accepted',
  })
  equal('the number of calls', received.length, 3)
  const [first, second, third] = received.map(({ spans }) => spans)
  equal(
    'the spans',
    first?.map(({ name }) => name),
    [...NAMES, ...NAMES, ...NAMES],
  )
  equal('the spans of JSON', second, first)
  equal('the spans of the webhook', third, first)
  const attributes = first?.[1]?.attributes
  equal('the input tokens', attributes?.['gen_ai.usage.input_tokens'], 120)
  equal('the cost', attributes?.['sluice.cost_usd'], 0.000125)
  const nowhere = { fields: { endpoint: `${endpoint}/nowhere` }, headers: null }
  equal('another path', (await deliver('otel-collector', nowhere)).outcome, 'unauthorized')
  return [
    'three generations arrive as twelve spans, by protobuf, JSON and as a webhook',
    'what the collector sends on is the same for the three: ids, times, integers, doubles, texts with half characters',
    'a wrong path pauses the destination',
  ]
}

const NAMES = ['answer a question', 'chat openai/gpt-4.1', 'attempt openai', 'attempt azure']
