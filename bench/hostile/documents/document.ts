import { MEGABYTE } from '../shape.ts'

/** A file that is small for its sender and was made to cost its reader much time or memory. */
export interface HostileDocument {
  name: string
  bytes(): Buffer
}

export const fill = (unit: string, bytes: number): string => unit.repeat(Math.ceil(bytes / unit.length))

/** All parts that are read may have 64 MB. */
export const ALLOWED = 60 * MEGABYTE
