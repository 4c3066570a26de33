import { expect, test } from 'bun:test'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

/** Messages may be put together from several strings: what is between two `…` must stand somewhere in the source. */
async function sourceText(): Promise<string> {
  const files = [...new Bun.Glob('src/**/*.ts').scanSync(root)]
  const texts = await Promise.all(files.map((file) => Bun.file(join(root, file)).text()))
  // Adjacent parts of one message are joined as the program joins them.
  return texts.join('\n').replace(/['"`] \+\s*['"`]/g, '')
}

/** The first cell's messages, in backticks; a status before them is not part of them. */
async function messages(): Promise<string[]> {
  const page = await Bun.file(join(root, 'docs/troubleshooting.md')).text()
  return page
    .split('\n')
    .filter((line) => /^\| (?:\d{3} )?`/.test(line))
    .map((line) => /`([^`]+)`/.exec(line)?.[1] ?? '')
}

test('every message on the page of troubleshooting stands in the source', async () => {
  const source = (await sourceText()).replaceAll('\\"', '"').replaceAll("\\'", "'")
  const shown = await messages()
  expect(shown.length).toBeGreaterThan(30)
  const parts = shown.flatMap((message) => message.split('…').map((part) => part.trim()))
  expect(parts.filter((part) => part.length > 3 && !source.includes(part))).toEqual([])
})
