import { MEGABYTE } from '../shape.ts'
import { deflated, GIGABYTE } from './deflated.ts'
import type { HostileDocument } from './document.ts'
import { PAGES, page, pdf } from './pdf.ts'

const image = (dictionary: string, data: Buffer): Buffer =>
  pdf([
    PAGES,
    page('/XObject<</I 5 0 R>>'),
    { dictionary: '', data: Buffer.from('q 9 0 0 9 0 0 cm /I Do Q') },
    { dictionary: `/Type/XObject/Subtype/Image${dictionary}`, data },
  ])

const GREY = '/ColorSpace/DeviceGray/BitsPerComponent 8'

export const pdfImages: readonly HostileDocument[] = [
  {
    name: 'pdf: an image of 10 billion pixels',
    bytes: () => image(`/Width 100000/Height 100000${GREY}/Filter/FlateDecode`, deflated('a', GIGABYTE)),
  },
  {
    name: 'pdf: an image of 30 million pixels, on 40 pages',
    bytes: () => {
      const pages = Array.from({ length: 40 }, (_, at) => at + 5)
      return pdf([
        `<</Type/Pages/Kids[${pages.map((at) => `${at} 0 R`).join(' ')}]/Count 40>>`,
        {
          dictionary: `/Type/XObject/Subtype/Image/Width 6000/Height 5000/ColorSpace/DeviceRGB/BitsPerComponent 8/Filter/FlateDecode`,
          data: deflated('a', 90 * MEGABYTE),
        },
        { dictionary: '', data: Buffer.from('q 9 0 0 9 0 0 cm /I Do Q') },
        ...pages.map(() => page('/XObject<</I 3 0 R>>')),
      ])
    },
  },
  {
    name: 'pdf: a fax of 2 billion columns',
    bytes: () =>
      image(
        '/Width 8/Height 8/ColorSpace/DeviceGray/BitsPerComponent 1/Filter/CCITTFaxDecode/DecodeParms<</K -1/Columns 2000000000/Rows 9>>',
        Buffer.alloc(1_000, 0x55),
      ),
  },
  {
    name: 'pdf: an image whose bytes are missing',
    bytes: () => image(`/Width 6000/Height 6000${GREY}`, Buffer.from('a')),
  },
]
