/** OTLP bodies, read with OpenTelemetry's own definitions, and the spans in them. */
import { join } from 'node:path'
import protobuf from 'protobufjs'
import { isObject } from '../../src/core/json.ts'
import type { DestinationCall } from '../../src/exporters/kind.ts'

const folder = join(import.meta.dir, '../fixtures/opentelemetry-proto')
const root = new protobuf.Root()
root.resolvePath = (_origin, target) => join(folder, target)
root.loadSync('opentelemetry/proto/collector/trace/v1/trace_service.proto')
const request = root.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest')
const response = root.lookupType('opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse')

type Values = Readonly<Record<string, unknown>>
interface ReadSpan {
  readonly traceId: string
  readonly spanId: string
  /** '' of a root. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly name: string
  readonly kind: string
  /** Nanoseconds, as text. */
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: Values
  readonly events: readonly Values[]
  readonly links: readonly Values[]
  readonly status: Values
}

export interface ReadTraces {
  readonly resource: Values
  readonly scope: Values
  readonly spans: readonly ReadSpan[]
}

type Body = Pick<DestinationCall, 'headers' | 'body'>

/** Throws unless the official definitions know every byte of the body. */
export function readTraces(call: Body): ReadTraces {
  const message = decoded(call)
  const { body } = call
  if (isJson(call)) {
    const [known, given] = [
      members(request.toObject(message, { longs: String })),
      members(JSON.parse(textIn(body))),
    ]
    if (known !== given) throw new Error(`of ${given} members of the body ${known} are known`)
  } else {
    const known = request.encode(message).finish().length
    if (known !== body.length) throw new Error(`of ${body.length} bytes ${known} are known`)
  }
  return tracesIn(message)
}

/** A body of another sender. */
export const readTheirs = (call: Body): ReadTraces => tracesIn(decoded(call))

function tracesIn(message: protobuf.Message): ReadTraces {
  const read = request.toObject(message, {
    longs: String,
    bytes: String,
    enums: String,
    arrays: true,
    defaults: true,
  })
  const [resourceSpans] = listOf(read['resourceSpans'])
  const [scopeSpans] = listOf(resourceSpans?.['scopeSpans'])
  return {
    resource: attributesOf(objectOf(resourceSpans?.['resource'])['attributes']),
    scope: objectOf(scopeSpans?.['scope']),
    spans: listOf(scopeSpans?.['spans']).map(spanOf),
  }
}

/** A reply of a collector with these fields. */
export const replyBytes = (partialSuccess: object): Uint8Array =>
  response.encode(response.fromObject({ partialSuccess })).finish()

const isJson = ({ headers }: Body): boolean => headers['content-type'] === 'application/json'
const textIn = (body: Body['body']): string =>
  typeof body === 'string' ? body : new TextDecoder().decode(body)

function decoded(call: Body): protobuf.Message {
  const { body } = call
  if (isJson(call)) {
    const isId = (key: string) => key === 'traceId' || key === 'spanId' || key === 'parentSpanId'
    return request.fromObject(
      JSON.parse(textIn(body), (key, value) =>
        isId(key) ? Buffer.from(value, 'hex').toString('base64') : value,
      ),
    )
  }
  if (typeof body === 'string') throw new Error('protobuf is bytes')
  return request.decode(body)
}

const members = (value: unknown): number => {
  if (Array.isArray(value)) return value.reduce((sum: number, item) => sum + members(item), 0)
  if (!isObject(value)) return 1
  return Object.values(value).reduce((sum: number, item) => sum + (isBytes(item) ? 1 : members(item)), 1)
}
const isBytes = (value: unknown): boolean => value instanceof Uint8Array

const spanOf = (span: Values): ReadSpan => ({
  traceId: hexOf(span['traceId']),
  spanId: hexOf(span['spanId']),
  parentSpanId: hexOf(span['parentSpanId']),
  traceState: String(span['traceState']),
  name: String(span['name']),
  kind: String(span['kind']),
  startTimeUnixNano: String(span['startTimeUnixNano']),
  endTimeUnixNano: String(span['endTimeUnixNano']),
  attributes: attributesOf(span['attributes']),
  events: listOf(span['events']).map(({ name, timeUnixNano, attributes }) => ({
    name,
    timeUnixNano,
    attributes: attributesOf(attributes),
  })),
  links: listOf(span['links']).map(({ traceId, spanId, attributes }) => ({
    traceId: hexOf(traceId),
    spanId: hexOf(spanId),
    attributes: attributesOf(attributes),
  })),
  status: objectOf(span['status']),
})

/** Integers as numbers; throws for a key that comes twice. */
function attributesOf(list: unknown): Values {
  const entries = listOf(list).map(({ key, value }) => [String(key), anyValue(objectOf(value))] as const)
  const values = Object.fromEntries(entries)
  if (Object.keys(values).length !== entries.length) throw new Error('an attribute is there twice')
  return values
}

function anyValue(value: Values): unknown {
  if ('intValue' in value) return Number(value['intValue'])
  if ('arrayValue' in value) return listOf(objectOf(value['arrayValue'])['values']).map(anyValue)
  return Object.values(value)[0]
}

const hexOf = (base64: unknown): string => Buffer.from(String(base64 ?? ''), 'base64').toString('hex')
const objectOf = (value: unknown): Values => (isObject(value) ? value : {})
const listOf = (value: unknown): Values[] => (Array.isArray(value) ? value.filter(isObject) : [])
