import { unzipSync } from 'fflate'
import type { DocumentText } from '../../core/document-reader.ts'
import { MOST_CHARACTERS, Refusal, UNKNOWN } from './bounds.ts'
import { sheetsOf } from './sheets.ts'
import { xmlPieces } from './xml.ts'

/** All parts that are read, inflated. The library makes no part larger than it says. */
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
  const found = KINDS.find(({ mark }) => parts.names.has(mark))
  if (found === undefined) throw new Refusal(UNKNOWN)
  const { kind } = found
  const decoder = new TextDecoder()
  const xml = new Map(
    Object.entries(parts.contents)
      .filter(([name]) => found.parts.test(name))
      .map(([name, content]) => [name, decoder.decode(content)]),
  )
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

function partsOf(bytes: Uint8Array) {
  const names = new Set<string>()
  let total = 0
  const contents = unzipSync(bytes, {
    filter({ name, originalSize }) {
      names.add(name)
      if (names.size > MOST_ENTRIES) throw new Refusal('it has too many parts')
      if (!KINDS.some(({ parts }) => parts.test(name))) return false
      total += originalSize
      if (total > MOST_BYTES) throw new Refusal('its parts grow too large when they are inflated')
      return true
    },
  })
  return { names, contents }
}

const slideNumber = (name: string): number => Number(/\d+/.exec(name)?.[0])

const slidesOf = (xml: ReadonlyMap<string, string>): string[] =>
  [...xml]
    .sort(([a], [b]) => slideNumber(a) - slideNumber(b))
    .map(([name, slide]) => `[Slide ${slideNumber(name)}]\n${proseOf(slide)}`)

/** Paragraphs as lines, cells between bars; the same element names in Word's and PowerPoint's XML. */
function proseOf(xml: string): string {
  const out: string[] = []
  let isText = false
  let rows = 0
  for (const { tag, text } of xmlPieces(xml)) {
    if (tag === 't') isText = true
    else if (tag === '/t') isText = false
    else if (tag === '' && isText) out.push(text)
    else if (tag === 'tr') rows += 1
    else if (tag === '/tr') {
      rows -= 1
      out.push('\n')
    } else if (tag === '/tc') out.push(' | ')
    else if (tag === '/p') out.push(rows > 0 ? ' ' : '\n')
    else if (tag === 'tab' && !isText) out.push('\t')
    else if (tag === 'br') out.push('\n')
  }
  return out.join('').trim()
}
