/** A PDF with a page for each text, whose lines are the page's lines. `more` goes into its trailer. */
export function pdfOf(pages: readonly string[], more = ''): Uint8Array<ArrayBuffer> {
  const contents = pages.map((page) => {
    const lines = page.split('\n').map((line) => `(${line}) Tj T*`)
    return `BT /F1 12 Tf 14 TL 72 720 Td ${lines.join('\n')} ET`
  })
  return pdfWith(
    contents.map((content) => ({ dictionary: '', content })),
    more,
  )
}

/** A PDF with these content streams, one for each page. Each character is one byte. */
export function pdfWith(
  streams: readonly { readonly dictionary: string; readonly content: string }[],
  more = '',
): Uint8Array<ArrayBuffer> {
  const kids = streams.map((_, i) => `${4 + 2 * i} 0 R`).join(' ')
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    `<< /Type /Pages /Kids [${kids}] /Count ${streams.length} >>`,
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
    ...streams.flatMap(({ dictionary, content }, i) => [
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents ${5 + 2 * i} 0 R >>`,
      `<< ${dictionary} /Length ${content.length} >>\nstream\n${content}\nendstream`,
    ]),
  ]
  return fileOf(objects, more)
}

function fileOf(objects: readonly string[], more = ''): Uint8Array<ArrayBuffer> {
  let file = '%PDF-1.4\n'
  const places = objects.map((object, i) => {
    const at = file.length
    file += `${i + 1} 0 obj\n${object}\nendobj\n`
    return `${String(at).padStart(10, '0')} 00000 n \n`
  })
  const size = objects.length + 1
  file += `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}trailer\n<< /Size ${size} /Root 1 0 R ${more} >>\nstartxref\n${file.length}\n%%EOF`
  return new Uint8Array(Buffer.from(file, 'latin1'))
}

/**
 * A PDF with a page for each entry: a text, or a scan whose rows of pixels are these (`#` black, `.` white), a byte of grey
 * each or, with `bits`, a bit each.
 */
export function scannedPdf(
  pages: readonly (string | { readonly rows: readonly string[]; readonly bits?: true })[],
): Uint8Array<ArrayBuffer> {
  const objects = ['', '', '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>']
  const kids = pages.map((page) => {
    const isText = typeof page === 'string'
    const content = isText ? `BT /F1 12 Tf 72 720 Td (${page}) Tj ET` : 'q 612 0 0 792 0 0 cm /Im0 Do Q'
    const at = objects.length + 1
    const used = isText ? '/Font << /F1 3 0 R >>' : `/XObject << /Im0 ${at + 2} 0 R >>`
    objects.push(
      `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << ${used} >> /Contents ${at + 1} 0 R >>`,
      `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    )
    if (!isText) objects.push(imageOf(page.rows, page.bits === true))
    return `${at} 0 R`
  })
  objects[0] = '<< /Type /Catalog /Pages 2 0 R >>'
  objects[1] = `<< /Type /Pages /Kids [${kids.join(' ')}] /Count ${pages.length} >>`
  return fileOf(objects)
}

function imageOf(rows: readonly string[], isBits: boolean): string {
  const width = rows[0]?.length ?? 0
  const bytes = isBits
    ? rows.flatMap((row) => row.match(/.{1,8}/g) ?? []).map((eight) => byteOf(eight.padEnd(8, '#')))
    : [...rows.join('')].map((pixel) => (pixel === '.' ? 255 : 0))
  const data = Buffer.from(bytes).toString('latin1')
  return `<< /Type /XObject /Subtype /Image /Width ${width} /Height ${rows.length} /ColorSpace /DeviceGray /BitsPerComponent ${isBits ? 1 : 8} /Length ${data.length} >>\nstream\n${data}\nendstream`
}

const byteOf = (pixels: string): number =>
  Number.parseInt([...pixels].map((pixel) => (pixel === '.' ? 1 : 0)).join(''), 2)

export const dataUrl = (mediaType: string, bytes: Uint8Array | string): string =>
  `data:${mediaType};base64,${Buffer.from(bytes).toString('base64')}`
