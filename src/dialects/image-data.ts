import { dataUrlHead } from '../core/data-url.ts'
import { badRequest } from '../core/errors.ts'
import { sniffMediaType } from '../core/media-type.ts'

/** Characters of base64 that hold the signature of a file. */
const HEAD = 64

const typeOf = (base64: string): string | null => sniffMediaType(Buffer.from(base64.slice(0, HEAD), 'base64'))

/** True for base64 that begins as some kind of image does. */
export const isImageData = (base64: string): boolean => typeOf(base64)?.startsWith('image/') ?? false

/** Throws a `GatewayError` 400 that names `path` for base64 that does not begin as any kind of image does. */
export function checkImageData(base64: string, path: string): void {
  const type = typeOf(base64)
  if (type?.startsWith('image/')) return
  throw badRequest(`must be the base64 of an image, not ${type === null ? 'of something else' : type}`, path)
}

/** Throws a `GatewayError` 400 that names `path` for what is neither an address nor a data URL that begins as an image does. */
export function checkImageUrl(url: string, path: string): void {
  if (/^https?:\/\//i.test(url)) return
  const head = dataUrlHead(url)
  if (!head) throw badRequest('must be an https URL or a data URL', path)
  const { mediaType: type, length } = head
  if (!/^image\//i.test(type) || !head.isBase64) {
    throw badRequest('must be a data URL of an image in base64: "data:image/png;base64,…"', path)
  }
  if (/^image\/svg/i.test(type)) return
  checkImageData(url.slice(length, length + HEAD), path)
}
