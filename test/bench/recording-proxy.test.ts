import { Database } from 'bun:sqlite'
import { afterAll, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MODELS, requestBody } from '../../bench/answers.ts'
import { runLoad } from '../../bench/load.ts'
import { startMockUpstream } from '../../bench/mock-upstream.ts'
import { startRecordingProxy } from '../../bench/recording-proxy.ts'
import { DATABASE_FILE } from '../../src/db/database.ts'

const folder = mkdtempSync(join(tmpdir(), 'sluice-recording-'))
const mock = startMockUpstream()
const proxy = startRecordingProxy(`http://127.0.0.1:${mock.port}`, folder)
afterAll(async () => {
  mock.stop(true)
  await proxy.stop()
  rmSync(folder, { recursive: true, force: true })
})

test.each(['unary', 'stream'] as const)('every answer is right, and a row by then: %s', async (kind) => {
  const before = rows(kind)
  const result = await runLoad({
    port: proxy.port ?? 0,
    path: '/v1/chat/completions',
    kind,
    body: requestBody(MODELS.burst, kind),
    keys: [],
    concurrency: 20,
    warmupMs: 0,
    durationMs: 0,
    pid: null,
  })
  expect(result).toMatchObject({ completed: 20, errors: 0, faults: [] })
  expect(rows(kind) - before).toBe(20)
})

/** As another process sees them. */
function rows(kind: 'unary' | 'stream'): number {
  const file = new Database(join(folder, DATABASE_FILE), { readonly: true })
  const sql = 'SELECT count(*) AS n FROM generations WHERE streamed = ?'
  const { n } = file.query<{ n: number }, [boolean]>(sql).get(kind === 'stream') ?? { n: -1 }
  file.close()
  return n
}
