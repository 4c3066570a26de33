/** Bodies that are forms with files in them. */
import { badRequest } from '../core/errors.ts'
import { readBytes } from './body.ts'
import type { Incoming } from './incoming.ts'

/** Fields and files: a form of OpenAI has some twenty. */
const MOST_PARTS = 1_000
/** Of one part: its name, the name of its file and its type. */
const MOST_HEADER_BYTES = 16 * 1024

export const isForm = (headers: Headers): boolean =>
  /^multipart\/form-data\b/i.test(headers.get('content-type') ?? '')

/**
 * The body as a form, counted as it arrives. Throws a `GatewayError`: 413 beyond `limitBytes`, 400 for anything that
 * is not a form.
 */
export async function readForm(incoming: Incoming, limitBytes: number): Promise<FormData> {
  const { headers } = incoming.request
  const boundary = isForm(headers) ? boundaryIn(headers.get('content-type') ?? '') : undefined
  if (boundary === undefined)
    throw badRequest('The Content-Type of the request must be multipart/form-data with a boundary')
  const bytes = await readBytes(incoming, limitBytes)
  checkParts(bytes, boundary)
  // The parser gets the boundary that was checked, not the header, where it may find another.
  const type = `multipart/form-data; boundary="${boundary}"`
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch {
    throw badRequest('The request body is not a well-formed form of its Content-Type')
  }
}

const BOUNDARY = /;\s*boundary=(?:"([^"]{1,200})"|([^\s";]{1,200}))/i

function boundaryIn(type: string): string | undefined {
  const [, quoted, plain] = BOUNDARY.exec(type) ?? []
  return quoted ?? plain
}

/** Bounds the parts and their headers (names of fields and files) before the form is parsed. Throws a 400. */
function checkParts(bytes: Uint8Array, boundary: string): void {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const line = Buffer.from(`--${boundary}`)
  const delimiter = Buffer.from(`\r\n--${boundary}`)
  const startOfPart = (from: number): number => {
    const at = text.indexOf(delimiter, from)
    return at < 0 ? at : at + delimiter.length
  }
  let at = text.subarray(0, line.length).equals(line) ? line.length : startOfPart(0)
  for (let delimiters = 1; at >= 0; delimiters++, at = startOfPart(at)) {
    // The last delimiter ends the form.
    if (delimiters > MOST_PARTS + 1) throw badRequest(`The form has more than ${MOST_PARTS} parts`)
    const rest = text.subarray(at, at + MOST_HEADER_BYTES)
    if (rest.subarray(0, LAST.length).equals(LAST)) continue
    if (rest.length === MOST_HEADER_BYTES && !rest.includes(HEADERS_END))
      throw badRequest(`The headers of a part of the form have more than ${MOST_HEADER_BYTES} bytes`)
  }
}

/** Follows the boundary that ends the form. */
const LAST = Buffer.of(0x2d, 0x2d)
const HEADERS_END = Buffer.from('\r\n\r\n')
