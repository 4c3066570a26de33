/** Bodies that are forms with files in them. */
import { badRequest } from '../core/errors.ts'
import { readBytes } from './body.ts'
import type { Incoming } from './incoming.ts'

/** Fields and files: a form of OpenAI has some twenty. */
const MOST_PARTS = 1_000
/** Of one part: its name, the name of its file and its type. */
const MOST_HEADER_BYTES = 16 * 1024

const FORM_TYPE = /^multipart\/form-data\s*;.*\bboundary=/i

export const isForm = (headers: Headers): boolean =>
  /^multipart\/form-data\b/i.test(headers.get('content-type') ?? '')

/**
 * The body as a form, counted as it arrives. Throws a `GatewayError`: 413 beyond `limitBytes`, 400 for anything that
 * is not a form.
 */
export async function readForm(incoming: Incoming, limitBytes: number): Promise<FormData> {
  const type = incoming.request.headers.get('content-type') ?? ''
  if (!FORM_TYPE.test(type)) {
    throw badRequest('The Content-Type of the request must be multipart/form-data with a boundary')
  }
  const bytes = await readBytes(incoming, limitBytes)
  checkParts(bytes, type)
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch {
    throw badRequest('The request body is not a well-formed form of its Content-Type')
  }
}

const BOUNDARY = /\bboundary=(?:"([^"]{1,200})"|([^\s";]{1,200}))/i

/** Bounds the parts and their headers (names of fields and files) before the form is parsed. Throws a 400. */
function checkParts(bytes: Uint8Array, type: string): void {
  const [, quoted, plain] = BOUNDARY.exec(type) ?? []
  const line = Buffer.from(`--${quoted ?? plain ?? ''}`)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let parts = 0
  for (let at = text.indexOf(line); at >= 0; at = text.indexOf(line, at)) {
    const isLineStart = at === 0 || text.subarray(at - LINE_END.length, at).equals(LINE_END)
    at += line.length
    if (!isLineStart || text.subarray(at, at + LAST.length).equals(LAST)) continue
    if (++parts > MOST_PARTS) throw badRequest(`The form has more than ${MOST_PARTS} parts`)
    const rest = text.subarray(at, at + MOST_HEADER_BYTES)
    if (rest.length === MOST_HEADER_BYTES && !rest.includes(HEADERS_END))
      throw badRequest(`The headers of a part of the form have more than ${MOST_HEADER_BYTES} bytes`)
  }
}

const LINE_END = Buffer.from('\r\n')
/** Follows the boundary that ends the form. */
const LAST = Buffer.of(0x2d, 0x2d)
const HEADERS_END = Buffer.from('\r\n\r\n')
