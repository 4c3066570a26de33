import type { DocumentFile, DocumentText } from '../../core/document-reader.ts'
import { decodePage } from '../web-fetch/charset.ts'
import { readablePage } from '../web-fetch/readable.ts'
import { MOST_CHARACTERS, Refusal, UNKNOWN } from './bounds.ts'
import { readOffice } from './office.ts'
import { readPdf } from './pdf.ts'

/** The largest HTML: the libraries make objects of it. */
const MOST_HTML_BYTES = 4 * 1024 * 1024

/** The container of old and of encrypted documents. */
const OLE = '\xd0\xcf\x11\xe0'

type Read = Omit<DocumentText, 'hash'>

/** The text of a document of any kind that this gateway reads, recognized by its bytes. Throws a `Refusal`. */
export async function readDocument({ name, mediaType, bytes, wants }: DocumentFile): Promise<Read> {
  const beginning = new TextDecoder('latin1').decode(bytes.subarray(0, 1_024))
  if (bytes.byteLength === 0) throw new Refusal('it is empty')
  if (beginning.includes('%PDF-')) return readPdf(bytes, wants)
  if (beginning.startsWith('PK\x03\x04')) return readOffice(bytes)
  if (beginning.startsWith(OLE))
    throw new Refusal(
      'it is encrypted, or of an old kind (.doc, .xls, .ppt). Save it as DOCX, XLSX, PPTX or PDF',
    )
  if (isBinary(beginning)) throw new Refusal(UNKNOWN)
  const text = decodePage(bytes, mediaType)
  if (!isHtml(name, mediaType, beginning)) return cut('text', text)
  if (bytes.byteLength > MOST_HTML_BYTES) throw new Refusal('HTML may have 4 MB at most')
  const page = readablePage(text, 'about:blank')
  return cut('HTML', page.title === '' ? page.text : `# ${page.title}\n\n${page.text}`)
}

const isHtml = (name: string, mediaType: string, beginning: string): boolean =>
  /html/i.test(mediaType) ||
  /\.x?html?$/i.test(name) ||
  /^\s{0,100}<(?:!doctype html|html)\b/i.test(beginning)

/** Text has no NUL, except in UTF-16, which begins with its mark. */
const isBinary = (beginning: string): boolean =>
  beginning.includes('\0') && !beginning.startsWith('\xff\xfe') && !beginning.startsWith('\xfe\xff')

const cut = (kind: string, text: string): Read => ({
  kind,
  text: text.slice(0, MOST_CHARACTERS),
  pages: null,
  isCut: text.length > MOST_CHARACTERS,
})
