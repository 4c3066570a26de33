import type { DocumentText } from '../../core/document-reader.ts'
import { MOST_CHARACTERS, Refusal, UNKNOWN } from './bounds.ts'
import { sheetsOf } from './sheets.ts'
import { xmlPieces } from './xml.ts'
import { type ZipPart, zipParts } from './zip.ts'

/** All parts that are read, inflated. */
const MOST_BYTES = 64 * 1024 * 1024
const MOST_ENTRIES = 20_000

/** The parts of a kind of document that have its text. */
const KINDS = [
  { kind: 'DOCX', mark: 'word/document.xml', parts: /^word\/(?:document|footnotes|endnotes)\.xml$/ },
  {
    kind: 'XLSX',
    mark: 'xl/workbook.xml',
    parts: /^xl\/(?:workbook\.xml|sharedStrings\.xml|_rels\/workbook\.xml\.rels|worksheets\/[^/]+\.xml)$/,
  },
  { kind: 'PPTX', mark: 'ppt/presentation.xml', parts: /^ppt\/slides\/slide\d{1,5}\.xml$/ },
] as const

/** The text of a Word, Excel or PowerPoint file (Office Open XML). Throws a `Refusal`. */
export function readOffice(bytes: Uint8Array): Omit<DocumentText, 'hash'> {
  const parts = partsOf(bytes)
  const found = KINDS.find(({ mark }) => parts.has(mark))
  if (found === undefined) throw new Refusal(UNKNOWN)
  const { kind } = found
  const xml = textsOf([...parts.values()].filter(({ name }) => found.parts.test(name)))
  const texts =
    kind === 'XLSX' ? sheetsOf(xml) : kind === 'PPTX' ? slidesOf(xml) : [...xml.values()].map(proseOf)
  const text = texts.join('\n\n').trim()
  if (text === '') throw new Refusal('it has no text')
  return {
    kind,
    text: text.slice(0, MOST_CHARACTERS),
    pages: kind === 'PPTX' ? texts.length : null,
    isCut: text.length > MOST_CHARACTERS,
  }
}

/** By their names: of parts with the same name the last one counts. */
function partsOf(bytes: Uint8Array): ReadonlyMap<string, ZipPart> {
  const parts = new Map<string, ZipPart>()
  let count = 0
  for (const part of zipParts(bytes)) {
    count += 1
    if (count > MOST_ENTRIES) throw new Refusal('it has too many parts')
    parts.set(part.name, part)
  }
  return parts
}

function textsOf(parts: readonly ZipPart[]): Map<string, string> {
  const total = parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)
  if (total > MOST_BYTES) throw new Refusal('its parts grow too large when they are inflated')
  const decoder = new TextDecoder()
  return new Map(parts.map((part) => [part.name, decoder.decode(part.read())]))
}

const slideNumber = (name: string): number => Number(/\d+/.exec(name)?.[0])

const slidesOf = (xml: ReadonlyMap<string, string>): string[] =>
  [...xml]
    .sort(([a], [b]) => slideNumber(a) - slideNumber(b))
    .map(([name, slide]) => `[Slide ${slideNumber(name)}]\n${proseOf(slide)}`)

/**
 * Paragraphs as lines, cells between bars; the same element names in Word's and PowerPoint's XML. Stops when it has more
 * characters than are kept.
 */
function proseOf(xml: string): string {
  const out: string[] = []
  let length = 0
  let isText = false
  let rows = 0
  const write = (text: string): void => {
    out.push(text)
    length += text.length
  }
  for (const { tag, text } of xmlPieces(xml)) {
    if (length > MOST_CHARACTERS) break
    if (tag === 't') isText = true
    else if (tag === '/t') isText = false
    else if (tag === '' && isText) write(text)
    else if (tag === 'tr') rows += 1
    else if (tag === '/tr') {
      rows -= 1
      write('\n')
    } else if (tag === '/tc') write(' | ')
    else if (tag === '/p') write(rows > 0 ? ' ' : '\n')
    else if (tag === 'tab' && !isText) write('\t')
    else if (tag === 'br') write('\n')
  }
  return out.join('').trim()
}
