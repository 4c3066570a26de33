import { describe, expect, test } from 'bun:test'
import { strToU8, zipSync } from 'fflate'
import { readDocument } from '../../../src/tools/documents/read-document.ts'

/** Parts as Word, Excel and PowerPoint write them (ECMA-376). */
const read = (parts: Readonly<Record<string, string>>) =>
  readDocument({
    name: '',
    mediaType: '',
    bytes: new Uint8Array(
      zipSync(Object.fromEntries(Object.entries(parts).map(([name, xml]) => [name, strToU8(xml)]))),
    ),
  })

describe('a document of Word', () => {
  test('has its paragraphs as lines and its cells between bars', async () => {
    const cell = (text: string) => `<w:tc><w:p><w:r><w:t>${text}</w:t></w:r></w:p></w:tc>`
    const document = `<?xml version="1.0"?><w:document><w:body>
      <w:p><w:pPr><w:tabs><w:tab w:val="left"/></w:tabs></w:pPr><w:r><w:t xml:space="preserve">Bread &amp; </w:t></w:r><w:r><w:t>butter</w:t><w:br/></w:r></w:p>
      <w:tbl><w:tr>${cell('a')}${cell('b &lt;3')}</w:tr></w:tbl><w:p><w:r><w:t>End&#33;</w:t></w:r></w:p></w:body></w:document>`
    const { kind, text, pages } = await read({ 'word/document.xml': document, '[Content_Types].xml': '' })
    expect({ kind, pages }).toEqual({ kind: 'DOCX', pages: null })
    expect(text.replace(/ +/g, ' ')).toBe('\tBread & butter\n\na | b <3 | \nEnd!'.trim())
  })

  test('that inflates too far, or has no text, is refused', async () => {
    await expect(read({ 'word/document.xml': ' '.repeat(65 * 1024 * 1024) })).rejects.toThrow(
      'grow too large',
    )
    await expect(read({ 'word/document.xml': '<w:document/>' })).rejects.toThrow('it has no text')
  })
})

test('a workbook has its sheets in their order, cells in their columns', async () => {
  const { kind, text } = await read({
    'xl/worksheets/sheet1.xml': '<worksheet><row r="1"><c r="A1"><v>7</v></c></row></worksheet>',
    'xl/worksheets/sheet2.xml':
      '<worksheet><row r="1"><c r="A1" t="s"><v>1</v></c><c r="C1" t="s"><v>0</v></c></row><row r="2"><c r="B2"><f>1+1</f><v>2</v></c><c t="inlineStr"><is><t>x</t></is></c></row></worksheet>',
    'xl/sharedStrings.xml': '<sst><si><t>people</t></si><si><r><t>ci</t></r><r><t>ty</t></r></si></sst>',
    'xl/workbook.xml':
      '<workbook><sheets><sheet name="Second" r:id="rId2"/><sheet name="First" r:id="rId1"/></sheets></workbook>',
    'xl/_rels/workbook.xml.rels':
      '<Relationships><Relationship Id="rId1" Target="worksheets/sheet1.xml"/><Relationship Id="rId2" Target="/xl/worksheets/sheet2.xml"/></Relationships>',
  })
  expect({ kind, text }).toEqual({
    kind: 'XLSX',
    text: '[Sheet Second]\ncity\t\tpeople\n\t2\tx\n\n[Sheet First]\n7',
  })
})

test('slides are in their order', async () => {
  const slide = (text: string) => `<p:sld><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sld>`
  const { kind, text, pages } = await read({
    'ppt/presentation.xml': '<p:presentation/>',
    'ppt/slides/slide10.xml': slide('Ten'),
    'ppt/slides/slide2.xml': slide('Two'),
  })
  expect({ kind, text, pages }).toEqual({ kind: 'PPTX', text: '[Slide 2]\nTwo\n\n[Slide 10]\nTen', pages: 2 })
})

test('other archives, and old documents, are refused', async () => {
  await expect(read({ 'a.txt': 'x' })).rejects.toThrow('it is none of the kinds')
  const old = new Uint8Array([0xd0, 0xcf, 0x11, 0xe0, 0, 0])
  await expect(readDocument({ name: 'a.doc', mediaType: '', bytes: old })).rejects.toThrow('of an old kind')
})
