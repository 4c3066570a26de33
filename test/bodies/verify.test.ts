import { afterEach, beforeEach, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createContentStore } from '../../src/bodies/contents.ts'
import { formatBodies, verifyBodies } from '../../src/bodies/verify.ts'
import type { GenerationContent } from '../../src/core/generation-content.ts'
import { makeSealer } from '../../src/db/seal.ts'
import { DAY_MS, response, START, type Store, startStore, turnOf } from './fixture.ts'

let started: Store
beforeEach(async () => {
  started = startStore()
  await started.store.keep(response('01'), turnOf('x'))
  await logged('gen-01')
})
afterEach(() => started.stop())

/** A content of a generation, as it is kept. */
async function logged(generationId: string): Promise<void> {
  const contents = createContentStore({
    bodies: started.bodies,
    sealer: makeSealer(new Uint8Array(32).fill(1)),
    now: () => START,
    retentionMs: DAY_MS,
  })
  const content: GenerationContent = {
    input: { prompt: 'x' },
    output: { completion: 'y', reasoning: null },
    error: null,
  }
  const ended = { generationId, workspaceId: 'workspace-a', weight: 1, content: async () => content }
  await contents.write([await contents.seal(ended)])
}

test('a whole file, while it is served', () => {
  const report = verifyBodies(started.path)
  expect(report).toMatchObject({ responses: 1, contents: 1, differences: [] })
  expect(report && formatBodies(report)).toEqual([
    `${started.path}: ok: 1 stored responses, 1 logged contents, ${report?.sealedBytes} bytes sealed`,
  ])
})

const damages: [what: string, sql: string, says: string][] = [
  ['a part that is missing', "DELETE FROM response_parts WHERE part = 'input'", 'its contents are missing'],
  ['a status of no kind', "UPDATE responses SET status = 'lost'", 'its status is unknown'],
  [
    'a part without its response',
    "INSERT INTO response_parts VALUES ('resp_none', 'reply', 0, 0, 0, x'00')",
    'a row of "response_parts" belongs to no response',
  ],
  [
    'a content in clear',
    "UPDATE logged_contents SET sealed = CAST('What is this? It lies there unsealed.' AS BLOB)",
    'content gen-01: it is not sealed',
  ],
  [
    'a content that is cut',
    'UPDATE logged_contents SET sealed = substr(sealed, 1, 20)',
    'content gen-01: it is not sealed',
  ],
  [
    'a content of nothing',
    "UPDATE logged_contents SET generation_id = 'other'",
    'content other: it belongs to no generation',
  ],
  ['a newer schema', "INSERT INTO schema_migrations VALUES ('9999_later', 0)", 'has the schema 9999_later'],
]
test.each(damages)('%s is reported', (_, sql, says) => {
  started.bodies.file.run('PRAGMA foreign_keys = OFF')
  started.bodies.file.run(sql)
  expect(verifyBodies(started.path)?.differences).toEqual([expect.stringContaining(says)])
})

test('a missing file is not reported; one that is not a database is', () => {
  expect(verifyBodies(join(started.folder, 'none.db'))).toBeNull()
  const path = join(started.folder, 'text.db')
  writeFileSync(path, 'no database at all, but long enough to be looked at'.repeat(40))
  expect(verifyBodies(path)?.differences).toEqual([
    expect.stringContaining('damaged or is not an SQLite database'),
  ])
})
