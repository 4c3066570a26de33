import type { JsonObject } from '../../../src/core/events.ts'

/** Writes AWS's event stream, apart from the code that reads it. */

const headerOf = (name: string, value: string): Buffer => {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(Buffer.byteLength(value))
  return Buffer.concat([
    Buffer.from([Buffer.byteLength(name)]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ])
}

/** A message of these headers, each a text or the bytes after its name. */
export function messageOf(headers: Record<string, string | Buffer>, payload: string): Buffer {
  const written = Object.entries(headers).map(([name, value]) =>
    typeof value === 'string'
      ? headerOf(name, value)
      : Buffer.concat([Buffer.from([Buffer.byteLength(name)]), Buffer.from(name), value]),
  )
  const head = Buffer.concat(written)
  const body = Buffer.from(payload)
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + head.length + body.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(Bun.hash.crc32(prelude.subarray(0, 8)), 8)
  const checked = Buffer.concat([prelude, head, body])
  const crc = Buffer.alloc(4)
  crc.writeUInt32BE(Bun.hash.crc32(checked))
  return Buffer.concat([checked, crc])
}

const JSON_TYPE = { ':content-type': 'application/json' }

/** `{messageStop: {…}}` → the frame of that event; `{exception: 'throttlingException', message}` → the exception's. */
export function frameOf(event: JsonObject): Buffer {
  const { exception, ...fields } = event
  if (typeof exception === 'string') {
    const headers = { ':exception-type': exception, ...JSON_TYPE, ':message-type': 'exception' }
    return messageOf(headers, JSON.stringify(fields))
  }
  const [name = ''] = Object.keys(event)
  const headers = { ':event-type': name, ...JSON_TYPE, ':message-type': 'event' }
  return messageOf(headers, JSON.stringify(event[name]))
}

export const streamOf = (events: readonly JsonObject[]): Uint8Array<ArrayBuffer> =>
  new Uint8Array(Buffer.concat(events.map(frameOf)))

/** The offset behind each frame. */
export function frameEnds(bytes: Uint8Array): number[] {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const ends: number[] = []
  for (let at = 0; at + 4 <= bytes.length; ) {
    at += view.getUint32(at)
    ends.push(at)
  }
  return ends
}
