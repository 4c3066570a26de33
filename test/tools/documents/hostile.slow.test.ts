/** Documents that were made to cost their reader much. The bench sends all of them through a server, and measures it. */
import { afterAll, expect, test } from 'bun:test'
import { hostileDocuments } from '../../../bench/hostile/documents.ts'
import { createDocumentReader } from '../../../src/tools/documents/reader.ts'

const reader = createDocumentReader()
afterAll(() => reader.close())

const TOO_LARGE = 'its streams grow too large when they are inflated'
const PARTS_TOO_LARGE = 'its parts grow too large when they are inflated'
const NO_TEXT = 'it has no text'

/** The end of the error; null: the document is read. */
const endings: readonly (readonly [name: string, ending: string | null])[] = [
  ['docx: 60 MB of lines', NO_TEXT],
  ['docx: 60 MB of entities', null],
  ['docx: a part larger than it states', 'it is broken: a part is larger than it states'],
  ['docx: a part that states 4 GB', PARTS_TOO_LARGE],
  ['docx: entities of entities', null],
  ['docx: 60,000 parts over the same bytes', 'it has too many parts'],
  ['xlsx: a long string of blanks in every cell', null],
  ['xlsx: the same sheet a million times', null],
  ['pdf: a stream of 1 GB with "endstream" in it', TOO_LARGE],
  ['pdf: pages that are their own children', 'it is broken'],
  ['pdf: a table that follows itself', null],
  ['pdf: encrypted by nobody knows what', 'it is encrypted. Send a copy without a password'],
  ['pdf: cut off', 'it is broken'],
  ['pdf: an image of 10 billion pixels', TOO_LARGE],
]

test.each(endings)('%s', async (name, ending) => {
  const document = hostileDocuments.find((each) => each.name === name)
  const bytes = new Uint8Array(document?.bytes() ?? [])
  const { signal } = new AbortController()
  const message = await reader.read({ name: 'a', mediaType: '', bytes }, signal).then(
    () => null,
    (error: Error) => error.message,
  )
  expect(message).toBe(ending === null ? null : `The file "a" cannot be read: ${ending}`)
})
