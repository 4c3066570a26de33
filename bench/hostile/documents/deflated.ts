import { deflateRawSync, deflateSync } from 'node:zlib'
import { MEGABYTE } from '../shape.ts'

export const GIGABYTE = 1_000 * MEGABYTE

/** One byte again and again, deflated: a thousandth of it. `raw` is without zlib's head. */
export function deflated(unit: string, bytes: number, raw = false): Buffer {
  const content = Buffer.alloc(bytes, unit)
  return raw ? deflateRawSync(content, { level: 9 }) : deflateSync(content, { level: 9 })
}
