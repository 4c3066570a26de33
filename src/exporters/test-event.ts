import { randomBytes } from 'node:crypto'
import type { JsonObject } from '../core/events.ts'
import { withoutTrailing } from '../core/trailing.ts'
import type { DestinationConfig, DestinationType } from './destination-types.ts'

/** One call that brings an event to a destination. */
export interface DestinationCall {
  readonly url: string
  readonly method: 'POST' | 'PUT'
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}

type Fields = DestinationConfig['fields']
type Target = Pick<DestinationCall, 'url' | 'method' | 'headers'>

/** The kinds that take OTLP's traces as JSON over HTTP, and where. */
const TARGETS: { readonly [Type in DestinationType]?: (fields: Fields) => Target } = {
  webhook: ({ url = '', method }) => ({ url, method: method === 'PUT' ? 'PUT' : 'POST', headers: {} }),
  'otel-collector': ({ endpoint = '' }) => ({ url: tracesAt(endpoint), method: 'POST', headers: {} }),
  // https://langfuse.com/integrations/native/opentelemetry
  langfuse: ({ baseUrl = '', publicKey = '', secretKey = '' }) => ({
    url: tracesAt(`${withoutSlash(baseUrl)}/api/public/otel`),
    method: 'POST',
    headers: { authorization: basic(publicKey, secretKey) },
  }),
  // https://grafana.com/docs/grafana-cloud/send-data/otlp/
  grafana: ({ baseUrl = '', instanceId = '', apiKey = '' }) => ({
    url: tracesAt(`${withoutSlash(baseUrl)}/otlp`),
    method: 'POST',
    headers: { authorization: basic(instanceId, apiKey) },
  }),
}

/** The call that tries a destination out; null: nothing is delivered to this kind yet. `at` is in milliseconds. */
export function testCall(
  type: DestinationType,
  { fields, headers }: DestinationConfig,
  at: number,
): DestinationCall | null {
  const target = TARGETS[type]?.(fields)
  if (target === undefined) return null
  return {
    ...target,
    headers: { ...target.headers, ...headers, 'content-type': 'application/json' },
    body: JSON.stringify(testTrace(at)),
  }
}

/** OTLP/JSON as of 1.5: ids in hex, 64-bit numbers as text (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding). */
function testTrace(at: number): JsonObject {
  const nanoseconds = `${at}000000`
  return {
    resourceSpans: [
      {
        resource: { attributes: [attribute('service.name', 'sluice')] },
        scopeSpans: [
          {
            scope: { name: 'sluice' },
            spans: [
              {
                traceId: randomBytes(16).toString('hex'),
                spanId: randomBytes(8).toString('hex'),
                name: 'sluice.test',
                kind: 1,
                startTimeUnixNano: nanoseconds,
                endTimeUnixNano: nanoseconds,
                attributes: [
                  attribute('sluice.test', 'true'),
                  attribute('gen_ai.operation.name', 'test'),
                  attribute('gen_ai.request.model', 'sluice/demo'),
                ],
                status: { code: 1 },
              },
            ],
          },
        ],
      },
    ],
  }
}

const attribute = (key: string, stringValue: string): JsonObject => ({ key, value: { stringValue } })

/** Collectors are named with or without the path of traces. */
function tracesAt(endpoint: string): string {
  const url = new URL(endpoint)
  const path = withoutSlash(url.pathname)
  url.pathname = path.endsWith('/v1/traces') ? path : `${path}/v1/traces`
  return url.href
}

const withoutSlash = (address: string): string => withoutTrailing(address, '/')

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
