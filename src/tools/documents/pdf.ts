import { getDocumentProxy } from 'unpdf'
import type { DocumentFile, DocumentText, PageScan } from '../../core/document-reader.ts'
import { MOST_CHARACTERS, Refusal } from './bounds.ts'
import { checkStreams, ENCRYPTED } from './pdf-streams.ts'
import { createScans, MOST_PIXELS } from './scans.ts'

const MOST_PAGES = 2_000
/** After this time no further page is read: a part of the text is worth more than none. */
const LONGEST_MS = 14_000

type Pdf = Awaited<ReturnType<typeof opened>>

/** The text of a PDF, page by page and line by line. Throws a `Refusal`. */
export async function readPdf(
  bytes: Uint8Array<ArrayBuffer>,
  wants: DocumentFile['wants'] = 'text',
): Promise<Omit<DocumentText, 'hash'>> {
  checkStreams(bytes)
  const pdf = await opened(bytes)
  try {
    return wants === 'length'
      ? { kind: 'PDF', text: '', pages: pdf.numPages, isCut: false }
      : await readPages(pdf, wants === 'scans')
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function readPages(pdf: Pdf, seesScans: boolean): Promise<Omit<DocumentText, 'hash'>> {
  const read = Math.min(pdf.numPages, MOST_PAGES)
  const pages: string[] = []
  const scans: PageScan[] = []
  const scanOf = createScans()
  let length = 0
  let isLeftOut = false
  const until = performance.now() + LONGEST_MS
  const mayGoOn = (): boolean => length <= MOST_CHARACTERS && performance.now() < until
  for (let number = 1; number <= read && mayGoOn(); number++) {
    const page = await pdf.getPage(number)
    const { items } = await page.getTextContent()
    let text = items
      .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
      .join('')
      .trim()
    length += text.length
    if (seesScans && text === '') {
      const url = await scanOf(page)
      if (url !== null) scans.push({ page: number, url })
      text = url === null ? '[No text, and no image of the page]' : `[A scan: image ${scans.length}]`
      isLeftOut ||= url === null
    }
    page.cleanup()
    pages.push(`[Page ${number}]\n${text}`)
  }
  if (length === 0 && scans.length === 0) throw new Refusal(WITHOUT_TEXT)
  const text = pages.join('\n\n')
  return {
    kind: 'PDF',
    text: text.slice(0, MOST_CHARACTERS),
    pages: pdf.numPages,
    isCut: isLeftOut || pages.length < pdf.numPages || text.length > MOST_CHARACTERS,
    ...(scans.length > 0 && { scans }),
  }
}

const WITHOUT_TEXT = 'it has no text: its pages are images, which only a model that sees can read'

async function opened(bytes: Uint8Array) {
  try {
    return await getDocumentProxy(bytes, { disableFontFace: true, verbosity: 0, maxImageSize: MOST_PIXELS })
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw new Refusal(ENCRYPTED)
    throw error
  }
}
