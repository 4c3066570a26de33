export type Body = string | { dictionary: string; data: Buffer }

/** A PDF whose first objects are a catalog, and pages as `objects` has them from number 2 on. */
export function pdf(objects: readonly Body[], trailer = '', hasTable = true): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n')]
  const places: number[] = []
  let at = 9
  const all: readonly Body[] = ['<</Type/Catalog/Pages 2 0 R>>', ...objects]
  for (const [index, body] of all.entries()) {
    const [head, data, tail] =
      typeof body === 'string'
        ? [body, Buffer.alloc(0), '']
        : [`<<${body.dictionary}/Length ${body.data.byteLength}>>\nstream\n`, body.data, '\nendstream']
    const part = Buffer.concat([
      Buffer.from(`${index + 1} 0 obj\n${head}`),
      data,
      Buffer.from(`${tail}\nendobj\n`),
    ])
    places.push(at)
    at += part.byteLength
    parts.push(part)
  }
  const size = all.length + 1
  const table = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')
  const end = `trailer\n<</Size ${size}/Root 1 0 R ${trailer}>>\nstartxref\n${hasTable ? at : 7}\n%%EOF`
  return Buffer.concat([
    ...parts,
    Buffer.from(hasTable ? `xref\n0 ${size}\n0000000000 65535 f \n${table}${end}` : end),
  ])
}

export const PAGES = '<</Type/Pages/Kids[3 0 R]/Count 1>>'
export const page = (resources = '', contents = 4): string =>
  `<</Type/Page/Parent 2 0 R/MediaBox[0 0 99 99]/Resources<<${resources}>>/Contents ${contents} 0 R>>`
export const FONT = '/Font<</F 5 0 R>>'
export const HELVETICA = '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>'
