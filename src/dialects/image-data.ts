import { badRequest } from '../core/errors.ts'
import { sniffMediaType } from '../core/media-type.ts'

/** As many characters of base64 as hold the marks by which files are known. */
const HEAD = 64

/** Throws a `GatewayError` 400 that names `path` for base64 that does not begin as any kind of image does. */
export function checkImageData(base64: string, path: string): void {
  const type = sniffMediaType(Buffer.from(base64.slice(0, HEAD), 'base64'))
  if (type?.startsWith('image/')) return
  throw badRequest(`must be the base64 of an image, not ${type === null ? 'of something else' : type}`, path)
}
