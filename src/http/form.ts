/** Bodies that are forms with files in them. */
import { badRequest } from '../core/errors.ts'
import { readBytes } from './body.ts'

const FORM_TYPE = /^multipart\/form-data\s*;.*\bboundary=/i

export const isForm = (headers: Headers): boolean =>
  /^multipart\/form-data\b/i.test(headers.get('content-type') ?? '')

/**
 * The body as a form, counted as it arrives. Throws a `GatewayError`: 413 beyond `limitBytes`, 400 for anything that
 * is no form.
 */
export async function readForm(request: Request, limitBytes: number): Promise<FormData> {
  const type = request.headers.get('content-type') ?? ''
  if (!FORM_TYPE.test(type)) {
    throw badRequest('The Content-Type of the request must be multipart/form-data with a boundary')
  }
  const bytes = await readBytes(request, limitBytes)
  try {
    return await new Response(new Uint8Array(bytes), { headers: { 'content-type': type } }).formData()
  } catch {
    throw badRequest('The request body is not a well-formed form of its Content-Type')
  }
}

/** A field that is text; null where it is absent. Throws a 400 for a file. */
export function textOf(form: FormData, name: string): string | null {
  const value = form.get(name)
  if (value !== null && typeof value !== 'string') throw badRequest('must be text, not a file', name)
  return value
}
