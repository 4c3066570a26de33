import { afterAll, expect, test } from 'bun:test'
import { eq } from 'drizzle-orm'
import { hashKey } from '../../src/core/keys.ts'
import { apiKeys, workspaces } from '../../src/db/tables.ts'
import { type Gateway, startGateway } from '../gateway.ts'

const gateways: Gateway[] = []
afterAll(() => Promise.all(gateways.map((gateway) => gateway.stop())))

/** The least of many tries, in milliseconds: what else the machine does only adds to it. */
async function leastChangeMs(keys: number): Promise<number> {
  const gateway = await startGateway()
  gateways.push(gateway)
  const { database, deps } = gateway
  const workspace = database.sync.select().from(workspaces).get()
  const rows = database.file.query(
    `INSERT INTO api_keys (hash, id, kind, name, label, creator_user_id, workspace_id, created_at)
     VALUES (?, ?, 'inference', 'k', 'l', ?, ?, 0)`,
  )
  database.file.transaction(() => {
    for (let at = 0; at < keys; at++)
      rows.run(hashKey(`cost-${at}`), at + 100, workspace?.created_by ?? '', workspace?.id ?? '')
  })()
  deps.snapshot.applyChanges()
  const hash = hashKey('cost-1')
  let least = Number.POSITIVE_INFINITY
  for (let round = 0; round < 50; round++) {
    const name = `n${round}`
    database.sync.update(apiKeys).set({ name }).where(eq(apiKeys.hash, hash)).run()
    database.sync.update(workspaces).set({ name }).run()
    const startedAt = performance.now()
    deps.snapshot.applyChanges()
    const { keysByHash, workspacesById } = deps.snapshot.current()
    const found = [keysByHash.get(hash)?.name, workspacesById.get(workspace?.id ?? '')?.name]
    least = Math.min(least, performance.now() - startedAt)
    expect(found).toEqual([name, name])
  }
  return least
}

test('a change costs the same, however many keys there are', async () => {
  const few = await leastChangeMs(100)
  const many = await leastChangeMs(20_000)
  // Two hundred times as many: what reads every key would take a hundred times as long.
  expect(many).toBeLessThan(10 * few + 1)
}, 30_000)
