import { MOST_CHARACTERS } from './bounds.ts'
import { attributeIn, xmlPieces } from './xml.ts'

/** Excel has no more. */
const MOST_COLUMNS = 16_384

/** The sheets of a workbook in its order, each as lines of cells between tabs. Formulas are their last values. */
export function sheetsOf(xml: ReadonlyMap<string, string>): string[] {
  const strings = stringsOf(xml.get('xl/sharedStrings.xml') ?? '')
  const targets = new Map<string, string>()
  for (const { tag, text } of xmlPieces(xml.get('xl/_rels/workbook.xml.rels') ?? ''))
    if (tag === 'Relationship') targets.set(attributeIn(text, 'Id'), attributeIn(text, 'Target'))
  const sheets: string[] = []
  const shown = new Set<string>()
  let left = MOST_CHARACTERS
  for (const { tag, text } of xmlPieces(xml.get('xl/workbook.xml') ?? '')) {
    if (tag !== 'sheet') continue
    const target = targets.get(attributeIn(text, 'r:id')) ?? ''
    const name = target.startsWith('/') ? target.slice(1) : `xl/${target}`
    const sheet = xml.get(name)
    // A workbook shows each part as one sheet.
    if (sheet === undefined || left <= 0 || shown.has(name)) continue
    shown.add(name)
    const rows = rowsOf(sheet, strings, left)
    left -= rows.length
    sheets.push(`[Sheet ${attributeIn(text, 'name')}]\n${rows}`)
  }
  return sheets
}

const inOneLine = (text: string): string => text.replace(/[\t\r\n]+/g, ' ')

/** The texts that cells name by number, as lines. */
function stringsOf(xml: string): string[] {
  const strings: string[] = []
  let current = ''
  let isText = false
  for (const { tag, text } of xmlPieces(xml)) {
    if (tag === 'si') current = ''
    else if (tag === '/si') strings.push(inOneLine(current))
    else if (tag === 't' || tag === '/t') isText = tag === 't'
    else if (tag === '' && isText) current += text
  }
  return strings
}

/** Stops after `most` characters. */
function rowsOf(xml: string, strings: readonly string[], most: number): string {
  const out: string[] = []
  let length = 0
  let column = 0
  let next = 0
  let type = ''
  let value = ''
  let isValue = false
  for (const { tag, text } of xmlPieces(xml)) {
    if (tag === 'row') next = column = 0
    else if (tag === '/row') out.push('\n')
    else if (tag === 'c') {
      const wanted = columnOf(attributeIn(text, 'r')) ?? next
      const gap = Math.max(0, wanted - column)
      out.push('\t'.repeat(gap))
      length += gap
      column = Math.max(column, wanted)
      next = column + 1
      type = attributeIn(text, 't')
      value = ''
    } else if (tag === 'v' || tag === 't') isValue = true
    else if (tag === '/v' || tag === '/t') isValue = false
    else if (tag === '' && isValue) value += text
    else if (tag === '/c') {
      const shown = type === 's' ? (strings[Number(value)] ?? '') : inOneLine(value)
      out.push(shown)
      length += shown.length
    }
    if (length > most) break
  }
  return out.join('').trimEnd()
}

/** Counted from 0: `C7` is 2. Undefined for no such reference. */
function columnOf(reference: string): number | undefined {
  const letters = /^[A-Z]{1,3}/.exec(reference)?.[0]
  if (letters === undefined) return undefined
  let number = 0
  for (const letter of letters) number = number * 26 + letter.charCodeAt(0) - 64
  return number > MOST_COLUMNS ? undefined : number - 1
}
