/** Bodies that are forms with files in them. */
import { badRequest } from '../core/errors.ts'
import { readBytes } from './body.ts'
import type { Incoming } from './incoming.ts'

/** Fields and files: a form of OpenAI has some twenty. */
const MOST_PARTS = 1_000

const FORM_TYPE = /^multipart\/form-data\s*;.*\bboundary=/i

export const isForm = (headers: Headers): boolean =>
  /^multipart\/form-data\b/i.test(headers.get('content-type') ?? '')

/**
 * The body as a form, counted as it arrives. Throws a `GatewayError`: 413 beyond `limitBytes`, 400 for anything that
 * is no form.
 */
export async function readForm(incoming: Incoming, limitBytes: number): Promise<FormData> {
  const type = incoming.request.headers.get('content-type') ?? ''
  if (!FORM_TYPE.test(type)) {
    throw badRequest('The Content-Type of the request must be multipart/form-data with a boundary')
  }
  const bytes = await readBytes(incoming, limitBytes)
  if (hasMoreParts(bytes, type)) throw badRequest(`The form has more than ${MOST_PARTS} parts`)
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch {
    throw badRequest('The request body is not a well-formed form of its Content-Type')
  }
}

const BOUNDARY = /\bboundary=(?:"([^"]{1,200})"|([^\s";]{1,200}))/i

/** Counts the lines that begin parts, before they are parsed. */
function hasMoreParts(bytes: Uint8Array, type: string): boolean {
  const [, quoted, plain] = BOUNDARY.exec(type) ?? []
  const line = Buffer.from(`\r\n--${quoted ?? plain ?? ''}`)
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let lines = 0
  // The first part begins the body; a line more ends it.
  for (let at = text.indexOf(line); at >= 0 && lines <= MOST_PARTS; at = text.indexOf(line, at + line.length))
    lines += 1
  return lines > MOST_PARTS
}

/** A field that is text; null where it is absent. Throws a 400 for a file. */
export function textOf(form: FormData, name: string): string | null {
  const value = form.get(name)
  if (value !== null && typeof value !== 'string') throw badRequest('must be text, not a file', name)
  return value
}
