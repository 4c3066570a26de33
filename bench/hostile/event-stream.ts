/** One message of AWS's event stream, as a provider of Converse sends it. */
export function encodeMessage(event: string, payload: string): Uint8Array {
  const body = Buffer.from(payload)
  const head = Buffer.concat([
    header(':event-type', event),
    header(':content-type', 'application/json'),
    header(':message-type', 'event'),
  ])
  const prelude = Buffer.alloc(12)
  prelude.writeUInt32BE(16 + head.length + body.length, 0)
  prelude.writeUInt32BE(head.length, 4)
  prelude.writeUInt32BE(Bun.hash.crc32(prelude.subarray(0, 8)), 8)
  const checked = Buffer.concat([prelude, head, body])
  const sum = Buffer.alloc(4)
  sum.writeUInt32BE(Bun.hash.crc32(checked))
  return Buffer.concat([checked, sum])
}

function header(name: string, value: string): Buffer {
  const length = Buffer.alloc(2)
  length.writeUInt16BE(value.length)
  return Buffer.concat([
    Buffer.from([name.length]),
    Buffer.from(name),
    Buffer.from([7]),
    length,
    Buffer.from(value),
  ])
}
