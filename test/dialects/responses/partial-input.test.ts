import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createInputReader } from '../../../src/dialects/responses/write-call.ts'

function read(json: string, cuts: readonly number[]): { pieces: string; complete: string } {
  const reader = createInputReader()
  let pieces = ''
  let from = 0
  for (const cut of [...cuts, json.length].toSorted((a, b) => a - b)) {
    pieces += reader.push(json.slice(from, cut))
    from = cut
  }
  const { rest, complete } = reader.end()
  return { pieces: pieces + rest, complete }
}

test('the pieces are the text, however it is split', () => {
  const input = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.string({ unit: 'grapheme' }),
    fc.constantFrom('\\', '\\\\"', '\ud83d', '"}', '\\u0041'),
  )
  fc.assert(
    fc.property(
      input,
      fc.array(fc.nat(60), { maxLength: 8 }),
      fc.constantFrom(undefined, 2),
      (text, cuts, indent) => {
        const json = JSON.stringify({ input: text }, null, indent)
        expect(
          read(
            json,
            cuts.map((cut) => cut % (json.length + 1)),
          ),
        ).toEqual({ pieces: text, complete: text })
      },
    ),
    { numRuns: 1_000 },
  )
})

test.each([
  ['', ''],
  ['free text', 'free text'],
  ['{"text":"x"}', '{"text":"x"}'],
  ['{"note":1,"input":"late"}', 'late'],
  ['{"input":"cut in mid-', 'cut in mid-'],
  ['{"input":"cut in an escape\\u00', 'cut in an escape'],
  ['{"input":5}', '{"input":5}'],
])('%j is %j', (json, complete) => {
  expect(read(json, [])).toEqual({ pieces: complete, complete })
})
