import { dataUrlHead } from '../../core/data-url.ts'
import { badRequest } from '../../core/errors.ts'
import { sniffMediaType } from '../../core/media-type.ts'
import type { ImagesRequest, Resolution } from '../../core/operation.ts'

export const PIXELS: Readonly<Record<Resolution, number>> = { '512': 512, '1K': 1024, '2K': 2048, '4K': 4096 }

const isResolution = (text: string): text is Resolution => Object.hasOwn(PIXELS, text)

interface Shape {
  size?: string
  resolution?: Resolution
}

/** `size` is a resolution or `WIDTHxHEIGHT`. Throws a 400 for anything else, and if other fields contradict it. */
export function readShape(
  size: string | null | undefined,
  resolution: Resolution | null | undefined,
  aspectRatio: string | null | undefined,
): Shape {
  if (!size) return resolution ? { resolution } : {}
  const tier = size.toUpperCase()
  if (isResolution(tier)) {
    if (resolution && resolution !== tier) throw badRequest(`contradicts "resolution", ${resolution}`, 'size')
    return { resolution: tier }
  }
  if (size === 'auto') return resolution ? { size, resolution } : { size }
  const sides = sidesOf(size)
  if (sides === null) {
    throw badRequest('must be WIDTHxHEIGHT, such as 1024x1024, or 512, 1K, 2K, 4K or auto', 'size')
  }
  if (resolution) throw badRequest('has no meaning beside a "size" in pixels', 'resolution')
  const ratio = ratioOf(aspectRatio)
  if (ratio !== null && Math.abs(sides.width / sides.height / ratio - 1) > 0.03) {
    throw badRequest(`contradicts "size", ${size}`, 'aspect_ratio')
  }
  return { size }
}

export function sidesOf(size: string): { width: number; height: number } | null {
  const match = /^([1-9]\d{1,4})x([1-9]\d{1,4})$/.exec(size)
  return match ? { width: Number(match[1]), height: Number(match[2]) } : null
}

/** Width by height; null for `auto` and without a ratio. */
export function ratioOf(aspectRatio: string | null | undefined): number | null {
  const match = /^([\d.]+):([\d.]+)$/.exec(aspectRatio ?? '')
  return match ? Number(match[1]) / Number(match[2]) : null
}

/** The requested width by height; null if the caller set none. */
export function askedRatio({ size, aspectRatio }: ImagesRequest): number | null {
  const sides = sidesOf(size ?? '')
  return sides ? sides.width / sides.height : ratioOf(aspectRatio)
}

/** The size in pixels, for a provider that takes only pixels; undefined if the caller set none. */
export function pixelsOf(request: ImagesRequest): string | undefined {
  const { size, resolution, aspectRatio } = request
  if (size !== undefined) return size
  const ratio = ratioOf(aspectRatio)
  if (ratio === null && resolution === undefined) return undefined
  const side = PIXELS[resolution ?? '1K']
  const root = Math.sqrt(ratio ?? 1)
  return `${rounded(side * root)}x${rounded(side / root)}`
}

/** Diffusion models work on blocks of 16 pixels. */
const rounded = (side: number): number => Math.max(16, Math.round(side / 16) * 16)

/** Characters of base64 that identify the type of an image. */
const HEAD_CHARACTERS = 128
const BASE64 = /^[A-Za-z0-9+/\s]+={0,2}$/

/** The media type of an image in base64, by its first bytes; null if they do not identify it. */
export function imageTypeOf(base64: string): string | null {
  const head = Buffer.from(base64.slice(0, HEAD_CHARACTERS), 'base64')
  const type = sniffMediaType(head)
  if (type !== null) return type
  return /^\s*<(?:svg|\?xml)/.test(head.toString('latin1')) ? 'image/svg+xml' : null
}

export const isBase64 = (text: string): boolean => BASE64.test(text.trimEnd())

/** The base64 of a data URL; null for anything else. */
export function base64OfDataUrl(url: string): string | null {
  const head = dataUrlHead(url)
  return head?.isBase64 ? url.slice(head.length) : null
}

export const dataUrlOf = (base64: string, mediaType: string | null): string =>
  `data:${mediaType ?? 'image/png'};base64,${base64}`
