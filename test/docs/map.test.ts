import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const root = join(import.meta.dir, '../..')
const read = (page: string): Promise<string> => Bun.file(join(root, page)).text()

describe('the map in ARCHITECTURE.md', () => {
  test('has a row for each folder of src', async () => {
    const page = await read('ARCHITECTURE.md')
    const folders = readdirSync(join(root, 'src'), { withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    )
    expect(folders.map(({ name }) => name).filter((name) => !page.includes(`| \`${name}/\``))).toEqual([])
  })

  test('names only files and folders that exist', async () => {
    const page = await read('ARCHITECTURE.md')
    const paths = [...page.matchAll(/(?:^|[\s`(])((?:[a-z-]+\/)+(?:[a-z-]+\.ts)?)(?=[\s`,:)])/gm)]
    const named = [...new Set(paths.map(([, path = '']) => path))]
    expect(named.length).toBeGreaterThan(30)
    expect(
      named.filter((path) => !existsSync(join(root, path)) && !existsSync(join(root, 'src', path))),
    ).toEqual([])
  })
})

test('the pages that are read first stay short', async () => {
  for (const page of ['README.md', 'ARCHITECTURE.md']) {
    expect([page, (await read(page)).split('\n').length <= 201]).toEqual([page, true])
  }
})

test('every page begins with what its reader can do afterwards', async () => {
  const pages = readdirSync(join(root, 'docs')).filter((name) => name.endsWith('.md'))
  const begins = /^# .+\n\nAfter this page /
  const wrong = await Promise.all(
    pages.map(async (page) => (begins.test(await read(`docs/${page}`)) ? [] : [page])),
  )
  expect(pages.length).toBeGreaterThan(20)
  expect(wrong.flat()).toEqual([])
})

test('README counts the clients that connect-your-tool lists', async () => {
  const [, agents = '', libraries = ''] = (await read('docs/connect-your-tool.md')).split(
    /^### (?:Coding agents|Libraries)$/m,
  )
  const rows = (table: string) =>
    [...table.matchAll(/^\| ([^|]+?) +\| [v0-9]/gm)].map(([, client = '']) => client)
  const counted = `${new Set(rows(agents)).size} coding agents and ${rows(libraries).length} configurations of libraries`
  expect(await read('README.md')).toContain(counted)
})
