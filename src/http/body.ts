/** Reads request bodies in place of the framework: bounded in size and depth, strict JSON. */
import { badRequest, GatewayError, payloadTooLarge } from '../core/errors.ts'
import type { JsonObject } from '../core/events.ts'
import {
  JSON_BOUNDS,
  type JsonExcess,
  MAX_JSON_DEPTH,
  MAX_JSON_ESCAPES,
  MAX_JSON_PARTS,
  MAX_JSON_RUN,
  MAX_JSON_VALUES,
  measureJson,
} from '../core/json-bounds.ts'
import { turnOfLoop } from '../core/turn.ts'
import { type BodyLease, takeBody } from './body-budget.ts'
import type { Incoming } from './incoming.ts'
import { isJsonObject } from './json.ts'

/** Bytes. */
export const INFERENCE_BODY_LIMIT = 20_000_000
export const ADMIN_BODY_LIMIT = 1_000_000

/** Longer bodies take milliseconds to parse, so other requests get a turn before they are translated. */
const LONG_BODY_BYTES = 256_000

const USUAL_TYPE = 'application/json'
const JSON_TYPE = /^application\/(?:[a-z0-9.+-]+\+)?json\s*(?:;|$)/i
const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * The body as a JSON object. A missing content type means JSON. Throws a `GatewayError`: 413 beyond
 * `limitBytes` (counted for chunked bodies, which are not read on), 400 for anything that is not a JSON object in UTF-8,
 * is nested deeper than 64 or holds too much (`json-bounds.ts`), is compressed or declared to be something else.
 */
export async function readJsonBody(incoming: Incoming, limitBytes: number): Promise<JsonObject> {
  checkHeaders(incoming.request.headers)
  let bytes: Uint8Array
  try {
    bytes = bounded(await arriving(incoming, limitBytes), limitBytes)
  } catch (cause) {
    throw brokenOff(cause)
  }
  const isLong = bytes.length > LONG_BODY_BYTES
  checkBody(bytes, incoming.body)
  if (isLong) await turnOfLoop()
  const text = decoded(bytes)
  if (isLong) await turnOfLoop()
  const body = parseObject(text)
  if (isLong) await turnOfLoop()
  return body
}

/** Memory of an object or array in bytes, in addition to its text: about 400 for parsing, translating and writing it. */
const BYTES_OF_A_CONTAINER = 128

const EXCESS: Readonly<Record<JsonExcess, string>> = {
  depth: `is nested deeper than ${MAX_JSON_DEPTH} levels`,
  parts: `holds more than ${MAX_JSON_PARTS} strings, objects and lists`,
  values: `holds more than ${MAX_JSON_VALUES} values`,
  run: `holds a number of more than ${MAX_JSON_RUN} digits`,
  escapes: `holds more than ${MAX_JSON_ESCAPES} escape sequences (such as \\n) in its strings`,
}

/** Parses the bytes of a body. Throws a `GatewayError`: 400, and 503 if the memory budget is exhausted. */
export function parseJsonObject(bytes: Uint8Array, lease?: BodyLease): JsonObject {
  checkBody(bytes, lease)
  return parseObject(decoded(bytes))
}

function checkBody(bytes: Uint8Array, lease?: BodyLease): void {
  if (bytes.length === 0) throw badRequest('The request body is empty: a JSON object is expected')
  const { excess, containers } = measureJson(bytes, JSON_BOUNDS)
  if (excess !== null) throw badRequest(`The request body ${EXCESS[excess]}`)
  if (lease) takeBody(lease, containers * BYTES_OF_A_CONTAINER)
}

function parseObject(text: string): JsonObject {
  const value = parse(text)
  if (!isJsonObject(value)) throw badRequest(`The request body must be a JSON object, not ${kindOf(value)}`)
  return value
}

function decoded(bytes: Uint8Array): string {
  try {
    return utf8.decode(bytes)
  } catch {
    throw badRequest('The request body is not valid UTF-8: JSON must be sent in UTF-8')
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message may quote the body, so it stays private.
    throw badRequest('The request body is malformed JSON')
  }
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'an array'
  return typeof value === 'string' ? 'a string' : `a ${typeof value}`
}

function checkHeaders(headers: Headers): void {
  const type = headers.get('content-type')
  const encoding = headers.get('content-encoding')
  if (encoding === null && type === USUAL_TYPE) return
  if (encoding !== null && encoding.trim().toLowerCase() !== 'identity') {
    throw badRequest('Compressed request bodies are not accepted: send the JSON without a Content-Encoding')
  }
  if (type !== null && type.trim() !== '' && !JSON_TYPE.test(type.trim())) {
    throw badRequest('The Content-Type of the request must be application/json')
  }
}

/**
 * The bytes of a body, counted in the budget of bodies in flight. Throws a `GatewayError`: 413 beyond `limitBytes`, 400
 * for a truncated body, 503 if the budget is exhausted.
 */
export async function readBytes(incoming: Incoming, limitBytes: number): Promise<Uint8Array> {
  try {
    return bounded(await arriving(incoming, limitBytes), limitBytes)
  } catch (cause) {
    throw brokenOff(cause)
  }
}

function arriving({ request, body }: Incoming, limitBytes: number): Promise<Uint8Array> {
  const declared = request.headers.get('content-length')
  if (declared === null) return readCounted(request.body, limitBytes, body)
  const length = Number(declared)
  // Bun joins headers that are repeated with the same value.
  if (Number.isNaN(length)) throw badRequest('The Content-Length header must be sent once')
  if (!(length <= limitBytes)) throw payloadTooLarge(limitBytes)
  takeBody(body, length)
  return request.bytes()
}

/** A declared length does not bound a body that is sent in chunks. */
function bounded(bytes: Uint8Array, limitBytes: number): Uint8Array {
  if (bytes.length > limitBytes) throw payloadTooLarge(limitBytes)
  return bytes
}

const brokenOff = (cause: unknown): GatewayError =>
  cause instanceof GatewayError ? cause : badRequest('The request body broke off before its end')

async function readCounted(
  body: ReadableStream<Uint8Array> | null,
  limitBytes: number,
  lease: BodyLease,
): Promise<Uint8Array> {
  if (body === null) return new Uint8Array()
  const chunks: Uint8Array[] = []
  let length = 0
  for await (const chunk of body) {
    length += chunk.length
    if (length > limitBytes) throw payloadTooLarge(limitBytes)
    takeBody(lease, chunk.length)
    chunks.push(chunk)
  }
  return chunks.length === 1 && chunks[0] ? chunks[0] : joined(chunks, length)
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
