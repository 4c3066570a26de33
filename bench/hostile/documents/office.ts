import { crc32, deflateRawSync } from 'node:zlib'
import { MEGABYTE } from '../shape.ts'
import { ALLOWED, fill, type HostileDocument } from './document.ts'

interface Part {
  name: string
  text: string
  /** The size that the archive states; the true one unless set. */
  stated?: number
}

/** A ZIP archive; `times` names each part so often, over the same bytes. */
function zip(parts: readonly Part[], times = 1): Buffer {
  const bodies: Buffer[] = []
  const directory: Buffer[] = []
  let at = 0
  for (const { name, text, stated } of parts) {
    const content = Buffer.from(text)
    const packed = deflateRawSync(content, { level: 9 })
    const common = Buffer.alloc(26)
    common.writeUInt16LE(20, 0)
    common.writeUInt16LE(8, 4)
    common.writeUInt32LE(crc32(content), 10)
    common.writeUInt32LE(packed.byteLength, 14)
    common.writeUInt32LE(stated ?? content.byteLength, 18)
    common.writeUInt16LE(name.length, 22)
    bodies.push(Buffer.from('PK\x03\x04', 'latin1'), common, Buffer.from(name), packed)
    const place = Buffer.alloc(14)
    place.writeUInt32LE(at, 10)
    const entry = Buffer.concat([Buffer.from('PK\x01\x02\x14\0', 'latin1'), common, place, Buffer.from(name)])
    for (let copy = 0; copy < times; copy++) directory.push(entry)
    at += 30 + name.length + packed.byteLength
  }
  const entries = Buffer.concat(directory)
  const end = Buffer.alloc(22)
  end.write('PK\x05\x06', 'latin1')
  end.writeUInt16LE(Math.min(directory.length, 0xffff), 8)
  end.writeUInt16LE(Math.min(directory.length, 0xffff), 10)
  end.writeUInt32LE(entries.byteLength, 12)
  end.writeUInt32LE(at, 16)
  return Buffer.concat([...bodies, entries, end])
}

const docx = (text: string, more: Partial<Part> = {}): Buffer =>
  zip([{ name: 'word/document.xml', text, ...more }])

function xlsx(sheet: string, strings = '', workbook = '<sheet name="a" r:id="r1"/>'): Buffer {
  return zip([
    { name: 'xl/workbook.xml', text: `<workbook><sheets>${workbook}</sheets></workbook>` },
    { name: 'xl/_rels/workbook.xml.rels', text: '<Relationship Id="r1" Target="worksheets/s.xml"/>' },
    { name: 'xl/sharedStrings.xml', text: `<sst>${strings}</sst>` },
    { name: 'xl/worksheets/s.xml', text: sheet },
  ])
}

export const officeFiles: readonly HostileDocument[] = [
  { name: 'docx: 60 MB of lines', bytes: () => docx(fill('<w:br/>', ALLOWED)) },
  {
    name: 'docx: 60 MB of entities',
    bytes: () => docx(`<w:t>${fill('&#65;&amp;', ALLOWED)}</w:t>`),
  },
  { name: 'docx: 60 MB of nested elements', bytes: () => docx(fill('<w:p>', ALLOWED)) },
  { name: 'docx: 60 MB of brackets', bytes: () => docx(fill('<', ALLOWED)) },
  {
    name: 'docx: a part larger than it states',
    bytes: () => docx(fill('<w:t>a</w:t>', 500 * MEGABYTE), { stated: 1_000 }),
  },
  {
    name: 'docx: a part that states 4 GB',
    bytes: () => docx('<w:t>a</w:t>', { stated: 0xffff_fff0 }),
  },
  {
    name: 'docx: entities of entities',
    bytes: () => {
      const entities = Array.from(
        { length: 30 },
        (_, at) => `<!ENTITY e${at + 1} "${`&e${at};`.repeat(10)}">`,
      )
      return docx(`<!DOCTYPE x [<!ENTITY e0 "ha">${entities.join('')}]><w:t>&e30;</w:t>`)
    },
  },
  {
    name: 'docx: 60,000 parts over the same bytes',
    bytes: () => zip([{ name: 'word/document.xml', text: fill('<w:br/>', MEGABYTE) }], 60_000),
  },
  {
    name: 'docx: 15,000 parts of 4 kB over the same bytes',
    bytes: () => zip([{ name: 'word/document.xml', text: fill('<w:br/>', 4_000) }], 15_000),
  },
  {
    name: 'xlsx: a long string of blanks in every cell',
    bytes: () =>
      xlsx(
        `<row>${fill('<c t="s"><v>0</v></c>', 20 * MEGABYTE)}</row>`,
        `<si><t>${fill('\n', 20 * MEGABYTE)}</t></si>`,
      ),
  },
  {
    name: 'xlsx: the same sheet a million times',
    bytes: () =>
      xlsx(fill('<row></row>', 20 * MEGABYTE), '', fill('<sheet name="" r:id="r1"/>', 20 * MEGABYTE)),
  },
  {
    name: 'xlsx: cells in the last column',
    bytes: () => xlsx(fill('<row><c r="XFD1"><v>1</v></c></row>', ALLOWED)),
  },
  {
    name: 'pptx: 15,000 slides',
    bytes: () =>
      zip([
        { name: 'ppt/presentation.xml', text: '<p/>' },
        ...Array.from({ length: 15_000 }, (_, at) => ({
          name: `ppt/slides/slide${at}.xml`,
          text: '<a:t>a</a:t>',
        })),
      ]),
  },
]
