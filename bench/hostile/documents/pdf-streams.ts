import { deflateSync } from 'node:zlib'
import { MEGABYTE } from '../shape.ts'
import { deflated, GIGABYTE } from './deflated.ts'
import { ALLOWED, fill, type HostileDocument } from './document.ts'
import { type Body, FONT, HELVETICA, PAGES, page, pdf } from './pdf.ts'

/** One page with this content. */
const pageOf = (dictionary: string, data: Buffer): Buffer =>
  pdf([PAGES, page(FONT), { dictionary, data }, HELVETICA])

/** zlib's own head says a window of 32 kB; this one says 8 MB, which zlib refuses and lenient readers ignore. */
const WIDE_WINDOW = Buffer.from([0xf8, 0x1b])
/** A stored block of deflate that has the key word which ends a stream. */
const MARKED = Buffer.from('\x00\x09\x00\xf6\xffendstream', 'latin1')

export const pdfStreams: readonly HostileDocument[] = [
  { name: 'pdf: a stream of 1 GB', bytes: () => pageOf('/Filter/FlateDecode', deflated(' ', GIGABYTE)) },
  {
    name: 'pdf: a stream of 1 GB with "endstream" in it',
    bytes: () =>
      pageOf(
        '/Filter/FlateDecode',
        Buffer.concat([Buffer.from([0x78, 0x9c]), MARKED, deflated(' ', GIGABYTE, true)]),
      ),
  },
  {
    name: 'pdf: a stream of 1 GB with a window that zlib refuses',
    bytes: () => pageOf('/Filter/FlateDecode', Buffer.concat([WIDE_WINDOW, deflated(' ', GIGABYTE, true)])),
  },
  {
    name: 'pdf: a stream of 1 GB in hexadecimal digits',
    bytes: () =>
      pageOf(
        '/Filter[/ASCIIHexDecode/FlateDecode]',
        Buffer.from(`${deflated(' ', GIGABYTE).toString('hex')}>`),
      ),
  },
  {
    name: 'pdf: runs of 900 MB',
    bytes: () => pageOf('/Filter/RunLengthDecode', Buffer.alloc(14 * MEGABYTE, '\x81 ', 'latin1')),
  },
  {
    name: 'pdf: 60 MB of texts in places of their own',
    bytes: () =>
      pageOf('/Filter/FlateDecode', deflateSync(Buffer.from(`BT/F 9 Tf ${fill('9 9 Td(a)Tj ', ALLOWED)}ET`))),
  },
  {
    name: 'pdf: 60 MB of operands',
    bytes: () => pageOf('/Filter/FlateDecode', deflateSync(Buffer.from(fill('1 ', ALLOWED)))),
  },
  {
    name: 'pdf: 60 MB of nested lists',
    bytes: () => pageOf('/Filter/FlateDecode', deflateSync(Buffer.from(fill('[', ALLOWED)))),
  },
  {
    name: 'pdf: forms that draw the next one ten times',
    bytes: () =>
      pdf([
        PAGES,
        page('/XObject<</X 5 0 R>>'),
        { dictionary: '', data: Buffer.from('/X Do') },
        ...Array.from({ length: 12 }, (_, at) => ({
          dictionary: `/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X ${6 + at} 0 R>>>>`,
          data: Buffer.from('/X Do '.repeat(10)),
        })),
      ]),
  },
  {
    name: 'pdf: a form that draws itself',
    bytes: () =>
      pdf([
        PAGES,
        page('/XObject<</X 5 0 R>>'),
        { dictionary: '', data: Buffer.from('/X Do') },
        {
          dictionary: '/Type/XObject/Subtype/Form/BBox[0 0 9 9]/Resources<</XObject<</X 5 0 R>>>>',
          data: Buffer.from('/X Do'),
        },
      ]),
  },
  {
    name: 'pdf: 40 fonts with 16 million characters each',
    bytes: () => {
      const fonts = Array.from({ length: 40 }, (_, at) => at)
      const map = `begincmap 1 begincodespacerange <000000> <FFFFFF> endcodespacerange 1 beginbfrange <000000> <FFFFFE> <0041> endbfrange endcmap`
      return pdf([
        PAGES,
        page(`/Font<<${fonts.map((at) => `/F${at} ${6 + 2 * at} 0 R`).join('')}>>`),
        {
          dictionary: '',
          data: Buffer.from(`BT ${fonts.map((at) => `/F${at} 9 Tf (abc) Tj`).join(' ')} ET`),
        },
        HELVETICA,
        ...fonts.flatMap((at): Body[] => [
          `<</Type/Font/Subtype/Type1/BaseFont/Helvetica/ToUnicode ${7 + 2 * at} 0 R>>`,
          { dictionary: '', data: Buffer.from(map) },
        ]),
      ])
    },
  },
]
