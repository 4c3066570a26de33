import { getDocumentProxy } from 'unpdf'
import type { DocumentText } from '../../core/document-reader.ts'
import { MOST_CHARACTERS, Refusal } from './bounds.ts'
import { checkStreams, ENCRYPTED } from './pdf-streams.ts'

const MOST_PAGES = 2_000

/** The text of a PDF, page by page and line by line. Throws a `Refusal`. */
export async function readPdf(bytes: Uint8Array<ArrayBuffer>): Promise<Omit<DocumentText, 'hash'>> {
  checkStreams(bytes)
  const pdf = await opened(bytes)
  try {
    const read = Math.min(pdf.numPages, MOST_PAGES)
    const pages: string[] = []
    let length = 0
    for (let number = 1; number <= read && length <= MOST_CHARACTERS; number++) {
      const page = await pdf.getPage(number)
      const { items } = await page.getTextContent()
      const text = items
        .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
        .join('')
        .trim()
      page.cleanup()
      pages.push(`[Page ${number}]\n${text}`)
      length += text.length
    }
    if (length === 0)
      throw new Refusal('it has no text: its pages are images, which only a model that sees can read')
    const text = pages.join('\n\n')
    return {
      kind: 'PDF',
      text: text.slice(0, MOST_CHARACTERS),
      pages: pdf.numPages,
      isCut: pages.length < pdf.numPages || text.length > MOST_CHARACTERS,
    }
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function opened(bytes: Uint8Array) {
  try {
    return await getDocumentProxy(bytes, { disableFontFace: true, verbosity: 0 })
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') throw new Refusal(ENCRYPTED)
    throw error
  }
}
