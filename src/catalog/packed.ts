import { readFileSync } from 'node:fs'

/** JSON, compressed. The same value gives the same bytes. */
export const packed = (value: unknown, level: 1 | 9 = 9): Uint8Array<ArrayBuffer> =>
  Bun.gzipSync(new TextEncoder().encode(JSON.stringify(value)), { level })

/** Reads a file of `packed`. Throws if it is missing or damaged. */
export const unpacked = (path: string): unknown =>
  JSON.parse(new TextDecoder().decode(Bun.gunzipSync(readFileSync(path))))
