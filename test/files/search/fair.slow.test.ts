/** Reading files for the search: workspaces take turns, and a file without end holds up its own workspace alone. */
import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, openSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createIndexFiles } from '../../../src/files/search/file-index.ts'
import { removeVerified } from '../../verified.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-fair-'))
/** A file whose bytes never come: a pipe without a writer. */
const endless = join(folder, 'endless')
const index = createIndexFiles(join(folder, 'index'), 4_000)

beforeAll(() => {
  mkdirSync(join(folder, 'files'))
  Bun.spawnSync(['mkfifo', endless])
})
afterAll(() => {
  // Both readers of the pipe end.
  openSync(endless, 'r+')
  index.close()
  removeVerified(folder)
})

const fileOf = (id: string, path = join(folder, 'files', id)) => ({
  id,
  path,
  filename: `${id}.txt`,
  mediaType: 'text/plain',
})

function written(id: string, text: string) {
  const file = fileOf(id)
  writeFileSync(file.path, text)
  return file
}

const never = new AbortController().signal

test('files of other workspaces are read beside a file without end, and its status shows it', async () => {
  const hostile = index.add('hostile', fileOf('file_hostile', endless))
  await index.add('good', written('file_good', 'The aquarium is fed on Tuesdays.'))
  expect(await index.statusOf('good', 'file_good')).toEqual({ status: 'ready' })
  expect(await index.statusOf('good', 'file_other')).toEqual({ status: 'unread' })
  expect(await index.statusOf('new', 'file_other')).toEqual({ status: 'unread' })
  const { found } = await index.search('good', 'aquarium', ['file_good'], 5, never)
  expect(found.map(({ text }) => text)).toEqual(['The aquarium is fed on Tuesdays.'])
  // Its own workspace is not held up either, once it has moved to the thread of slow files.
  await index.add('hostile', written('file_late', 'A late file.'))
  expect(await index.statusOf('hostile', 'file_late')).toEqual({ status: 'ready' })
  expect(await index.statusOf('hostile', 'file_hostile')).toEqual({ status: 'reading' })
  // To delete a file does not wait until it was read.
  await index.remove('hostile', 'file_hostile')
  await hostile
  expect(await index.statusOf('hostile', 'file_hostile')).toEqual({ status: 'unread' })
})

test('a file that cannot be read says why', async () => {
  await index.add('good', written('file_broken', '%PDF-1.7\nnothing'))
  expect(await index.statusOf('good', 'file_broken')).toEqual({ status: 'refused', reason: 'it is broken' })
})
