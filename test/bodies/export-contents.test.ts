import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createExportContents, readExportContents } from '../../src/bodies/export-contents.ts'
import type { EndedContent, ExportedContent } from '../../src/core/generation-content.ts'
import { firstIdAt } from '../../src/core/ids.ts'
import { makeSealer } from '../../src/db/seal.ts'
import { DAY_MS, START, type Store, startStore } from './fixture.ts'

let store: Store
beforeEach(() => {
  store = startStore()
})
afterEach(() => store.stop())

const sealer = makeSealer(new Uint8Array(32).fill(1))
const lost: unknown[] = []
const open = (mostBytes = 1_000_000, mostQueuedBytes?: number) =>
  createExportContents({
    bodies: store.bodies,
    sealer,
    mostBytes,
    oldestMs: 3 * DAY_MS,
    now: () => store.at,
    onLost: (error) => lost.push(error),
    ...(mostQueuedBytes === undefined ? {} : { mostQueuedBytes }),
  })

const idOf = (n: number, at = START): string => `${firstIdAt(at)}7000${String(n).padStart(16, '0')}`
const contentOf = (text: string): ExportedContent => ({
  input: { messages: [{ role: 'user', content: text }] },
  output: { completion: 'an answer', reasoning: null },
  tools: [{ name: 'f' }],
  error: null,
})
const ended = (n: number, text = 'canary', at = START): EndedContent<ExportedContent> => ({
  generationId: idOf(n, at),
  workspaceId: 'workspace-a',
  weight: text.length,
  content: async () => contentOf(text),
})
const read = async (...ns: number[]) => {
  const found = await readExportContents(
    store.bodies,
    sealer,
    ns.map((n) => idOf(n)),
  )
  return ns.map((n) => found.get(idOf(n)))
}
/** Random, so that it hardly shrinks. */
const long = (characters: number): string =>
  crypto.getRandomValues(new Uint8Array((characters / 4) * 3)).toBase64()
const rows = (): number => store.bodies.file.query('SELECT 1 FROM export_contents').all().length

test('contents are stored sealed, read again, and deleted once they are passed', async () => {
  const contents = open()
  contents.add(ended(1))
  contents.add(ended(2))
  await contents.close()
  expect(await read(1, 2, 3)).toEqual([contentOf('canary'), contentOf('canary'), undefined])
  store.bodies.file.run('PRAGMA wal_checkpoint(TRUNCATE)')
  expect(await Bun.file(store.path).text()).not.toContain('canary')
  await contents.forget([idOf(1), idOf(3)])
  expect(await read(1, 2)).toEqual([undefined, contentOf('canary')])
  expect(lost).toEqual([])
})

test('a content of another workspace or key cannot be opened', async () => {
  const contents = open()
  contents.add(ended(1))
  await contents.close()
  const other = makeSealer(new Uint8Array(32).fill(2))
  expect([...(await readExportContents(store.bodies, other, [idOf(1)])).values()]).toEqual(['unreadable'])
  store.bodies.file.run("UPDATE export_contents SET workspace_id = 'workspace-b'")
  expect(await read(1)).toEqual(['unreadable'])
})

test('what finds no room says so, and room is made by what is passed', async () => {
  const contents = open(3_000)
  for (const n of [1, 2, 3]) contents.add(ended(n, long(2_400)))
  await contents.close()
  const [first, second, third] = await read(1, 2, 3)
  expect([typeof first, second, third]).toEqual(['object', 'full', 'full'])
  await contents.forget([idOf(1), idOf(2)])
  contents.add(ended(4, long(2_400)))
  await contents.close()
  const [fourth] = await read(4)
  expect(typeof fourth).toBe('object')
  // The next process counts what is there.
  const next = open(3_000)
  next.add(ended(5, long(2_400)))
  await next.close()
  expect(await read(5)).toEqual(['full'])
})

test('what the queue has no room for says so as well', async () => {
  const contents = open(1_000_000, 2_000)
  contents.add(ended(1, long(1_000)))
  contents.add(ended(2, long(1_000)))
  await contents.close()
  const [first, second] = await read(1, 2)
  expect([typeof first, second]).toEqual(['object', 'full'])
})

test('a content that all destinations passed before it was written is not written', async () => {
  const contents = open()
  contents.add(ended(1))
  contents.add(ended(2))
  await contents.forget([idOf(1)])
  await contents.close()
  expect(await read(1, 2)).toEqual([undefined, contentOf('canary')])
})

test('one that is passed while it is written is deleted again', async () => {
  const contents = open()
  const writing = Promise.withResolvers<void>()
  const slow = async () => {
    writing.resolve()
    return contentOf('canary')
  }
  contents.add({ ...ended(1), content: slow })
  const closed = contents.close()
  await writing.promise
  await contents.forget([idOf(1)])
  await closed
  expect(rows()).toBe(0)
})

test('a start deletes what no destination will take any more', async () => {
  const contents = open()
  contents.add(ended(1, 'old', START))
  contents.add(ended(2, 'young', START + 2 * DAY_MS))
  await contents.close()
  store.at = START + 4 * DAY_MS
  await open().close()
  expect(store.bodies.file.query('SELECT generation_id AS id FROM export_contents').all()).toEqual([
    { id: idOf(2, START + 2 * DAY_MS) },
  ])
})

test('a content that cannot be built does not stop the others', async () => {
  const contents = open()
  contents.add({ ...ended(1), content: () => Promise.reject(new Error('broken')) })
  contents.add(ended(2))
  await contents.close()
  expect(await read(1, 2)).toEqual(['full', contentOf('canary')])
  expect(lost.splice(0)).toEqual([new Error('broken')])
})
