import { deflateSync } from 'node:zlib'
import { MEGABYTE } from '../shape.ts'
import { fill, type HostileDocument } from './document.ts'
import { type Body, FONT, HELVETICA, PAGES, page, pdf } from './pdf.ts'

/** Objects of a page that says one word, and these. */
const oneWord = (more: readonly Body[], trailer = '', hasTable = true): Buffer =>
  pdf(
    [PAGES, page(FONT), { dictionary: '', data: Buffer.from('BT/F 9 Tf(word)Tj ET') }, HELVETICA, ...more],
    trailer,
    hasTable,
  )

const nulls = (count: number): string[] => Array.from({ length: count }, () => 'null')

export const pdfStructures: readonly HostileDocument[] = [
  { name: 'pdf: 300,000 objects', bytes: () => oneWord(nulls(300_000)) },
  { name: 'pdf: 300,000 objects without a table', bytes: () => oneWord(nulls(300_000), '', false) },
  {
    name: 'pdf: 12 million objects in a stream',
    bytes: () =>
      oneWord([
        {
          dictionary: '/Type/ObjStm/N 12000000/First 48000000/Filter/FlateDecode',
          data: deflateSync(Buffer.from(`${fill('9 0 ', 48 * MEGABYTE)}${fill('0 ', 12 * MEGABYTE)}`)),
        },
        {
          dictionary: '/Type/XRef/Size 9/W[1 2 1]/Root 9 0 R',
          data: Buffer.from('02000600', 'hex'),
        },
      ]).subarray(),
  },
  {
    name: 'pdf: pages that are their own children',
    bytes: () => pdf(['<</Type/Pages/Kids[2 0 R 2 0 R]/Count 2>>']),
  },
  {
    name: 'pdf: pages in 100,000 levels',
    bytes: () =>
      pdf([
        ...Array.from(
          { length: 100_000 },
          (_, at) => `<</Type/Pages/Kids[${at + 3} 0 R]/Count 1/Parent ${at + 1} 0 R>>`,
        ),
        `<</Type/Page/Parent 100001 0 R/MediaBox[0 0 9 9]>>`,
      ]),
  },
  {
    name: 'pdf: two billion pages, it says',
    bytes: () => pdf(['<</Type/Pages/Kids[3 0 R]/Count 2000000000>>', page(FONT, 9)]),
  },
  {
    name: 'pdf: 10,000 pages',
    bytes: () =>
      pdf([
        `<</Type/Pages/Kids[${Array.from({ length: 10_000 }, (_, at) => `${at + 5} 0 R`).join(' ')}]/Count 10000>>`,
        HELVETICA,
        { dictionary: '', data: Buffer.from('BT/F 9 Tf(word)Tj ET') },
        ...Array.from({ length: 10_000 }, () => page('/Font<</F 3 0 R>>')),
      ]),
  },
  { name: 'pdf: a table that follows itself', bytes: () => oneWord([], '/Prev 9') },
  {
    name: 'pdf: 14 MB of beginnings of objects',
    bytes: () => Buffer.from(`%PDF-1.7\n${fill('1 0 obj\n', 14 * MEGABYTE)}`),
  },
  {
    name: 'pdf: 14 MB of trailers',
    bytes: () => Buffer.from(`%PDF-1.7\n${fill('trailer\n<<', 14 * MEGABYTE)}`),
  },
  {
    name: 'pdf: 14 MB of key words of streams',
    bytes: () => Buffer.from(`%PDF-1.7\n${fill('stream\n', 14 * MEGABYTE)}`),
  },
  {
    name: 'pdf: 14 MB of nested dictionaries',
    bytes: () => Buffer.from(`%PDF-1.7\n1 0 obj\n${fill('<</A', 14 * MEGABYTE)}`),
  },
  { name: 'pdf: encrypted by nobody knows what', bytes: () => oneWord([], '/Encrypt<</Filter/X/V 99>>') },
  { name: 'pdf: cut off', bytes: () => oneWord(nulls(1_000)).subarray(0, 5_000) },
]
