import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { openLedger } from '../../src/ledger/open.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { makeFolder, openMigrated, rowsOf } from './fixture.ts'

const folder = makeFolder()
afterAll(folder.remove)

const KILLS = 10

/** Runs the writer until it has acknowledged `wanted` generations, kills it, and returns all that it printed. */
async function runAndKill(
  wanted: number,
  foldEvery: number,
): Promise<{ recovered: number; acknowledged: string[] }> {
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, 'kill-writer.child.ts'), folder.path, String(foldEvery)],
    {
      stdout: 'pipe',
      stderr: 'inherit',
    },
  )
  let printed = ''
  let isKilled = false
  const decoder = new TextDecoder()
  for await (const bytes of child.stdout) {
    printed += decoder.decode(bytes, { stream: true })
    if (!isKilled && printed.split('\n').length - 2 >= wanted) {
      isKilled = true
      child.kill('SIGKILL')
    }
  }
  await child.exited
  expect(child.signalCode).toBe('SIGKILL')
  // A line that the kill cut short was not heard.
  const [first = '', ...lines] = printed.split('\n').slice(0, -1)
  return { recovered: Number(/^recovered (\d+)$/.exec(first)?.[1]), acknowledged: lines }
}

test(`${KILLS} times kill -9: no acknowledged row is lost, none is there twice, and everything adds up`, async () => {
  const acknowledged: string[] = []
  let recovered = 0
  let unfolded = 0
  for (let kill = 0; kill < KILLS; kill++) {
    // Half of them are killed with rows that are in no sum yet, half while rows are folded all the time.
    const life = await runAndKill(1 + kill * 40, kill % 2 === 0 ? 0 : 3)
    acknowledged.push(...life.acknowledged)
    recovered += life.recovered
    // As a stopped folder is verified: its last writer closed nothing.
    const report = verifyFolder(folder.path)
    expect(report.differences).toEqual([])
    unfolded += report.unfolded
    expect(report.generations).toBeGreaterThanOrEqual(acknowledged.length)
  }

  const database = openMigrated(folder.databasePath)
  recovered += openLedger(database).recovered
  const ids = rowsOf(database, 'SELECT id FROM generations').map((row) => String(row['id']))
  const present = new Set(ids)
  expect(present.size).toBe(ids.length)
  expect(acknowledged.filter((id) => !present.has(id))).toEqual([])
  expect(new Set(acknowledged).size).toBe(acknowledged.length)
  const flagged = rowsOf(
    database,
    `SELECT id FROM generations WHERE finish_reason = 'error' AND cancelled AND estimated AND cost_nano_usd = 70`,
  )
  expect(flagged.length).toBe(recovered)
  expect(recovered).toBeGreaterThan(0)
  const finished = new Set(acknowledged)
  expect(flagged.filter((row) => finished.has(String(row['id'])))).toEqual([])
  expect(rowsOf(database, 'SELECT * FROM journal')).toEqual([])
  database.close()
  expect(unfolded).toBeGreaterThan(100)
  expect(verifyFolder(folder.path)).toMatchObject({ differences: [], unfolded: 0 })
})
