import { fill, type HostileDocument } from './documents/document.ts'
import { officeFiles } from './documents/office.ts'
import { pdfImages } from './documents/pdf-images.ts'
import { pdfStreams } from './documents/pdf-streams.ts'
import { pdfStructures } from './documents/pdf-structures.ts'
import { MEGABYTE } from './shape.ts'

const html: readonly HostileDocument[] = [
  {
    name: 'html: 300,000 elements in each other',
    bytes: () => Buffer.from(`<html>${fill('<div>', 1.5 * MEGABYTE)}a`),
  },
  {
    name: 'html: 4 MB of a table',
    bytes: () => Buffer.from(`<html><table>${fill('<tr><td>a', 4 * MEGABYTE - 100)}`),
  },
]

export const hostileDocuments: readonly HostileDocument[] = [
  ...officeFiles,
  ...pdfStreams,
  ...pdfStructures,
  ...pdfImages,
  ...html,
]
