import { afterEach, expect, test } from 'bun:test'
import { join } from 'node:path'
import { DATABASE_FILE, openForReading } from '../../src/db/database.ts'
import { verifyFolder } from '../../src/ledger/verify.ts'
import { BOOTSTRAP, inFolder, killServers, type Served, startServer } from '../cli/process.ts'
import { isExhaustive } from '../exhaustive.ts'
import { startVendor, type Vendor } from './vendor.ts'

afterEach(killServers)

/** `SLUICE_TEST_EXHAUSTIVE=1 bun test --timeout 3600000 test/delivery/kill.slow.test.ts`: a hundred. */
const KILLS = isExhaustive ? 100 : 2
const CLIENTS = 6
const ENV = { ...BOOTSTRAP, SLUICE_OUTBOUND_ALLOW: '127.0.0.1' }

const call = (server: Served, path: string, key: string, body: object): Promise<Response> =>
  fetch(`${server.url}/api/v1${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })

async function makeDestination(
  server: Served,
  name: string,
  url: string,
  fields: object = {},
): Promise<void> {
  const body = { name, type: 'webhook', config: { url }, ...fields }
  const reply = await call(server, '/observability/destinations', BOOTSTRAP.SLUICE_MANAGEMENT_KEY, body)
  expect([reply.status, await reply.text()]).toEqual([201, expect.any(String)])
}

/** Calls until so many answers are complete, then kills the server. Returns their ids. */
async function loadAndKill(server: Served, answers: number): Promise<string[]> {
  const complete: string[] = []
  let isKilled = false
  async function client(user: string): Promise<void> {
    const body = { model: 'sluice/demo', user, messages: [{ role: 'user', content: 'Hi' }] }
    while (!isKilled) {
      try {
        const reply = await call(server, '/chat/completions', BOOTSTRAP.SLUICE_API_KEY, body)
        await reply.text()
        complete.push(reply.headers.get('x-generation-id') ?? '')
      } catch {
        return
      }
      if (complete.length < answers || isKilled) continue
      isKilled = true
      server.kill('SIGKILL')
    }
  }
  await Promise.all(
    Array.from({ length: CLIENTS }, (_, index) => client(index % 2 === 0 ? 'taken' : 'left-out')),
  )
  await server.exited
  return complete
}

function rowsOf(folder: string): { id: string; user: string | null }[] {
  const database = openForReading(join(folder, DATABASE_FILE))
  try {
    return database.file
      .query<{ id: string; user: string | null }, []>('SELECT id, external_user AS user FROM generations')
      .all()
  } finally {
    database.close()
  }
}

async function untilArrived(vendor: Vendor, ids: readonly string[]): Promise<void> {
  const missing = () => ids.filter((id) => !vendor.accepted().has(id))
  for (const end = performance.now() + 60_000; performance.now() < end; await Bun.sleep(50))
    if (missing().length === 0) return
  expect(missing()).toEqual([])
}

test(`${KILLS} times kill -9 under load: what the rules take arrives, nothing else does, and the ledger adds up`, async () => {
  const all = startVendor()
  const some = startVendor()
  await inFolder(async (folder) => {
    const answered: string[] = []
    for (let kill = 0; kill < KILLS; kill++) {
      const server = await startServer(folder, { env: ENV })
      if (kill === 0) {
        const rule = { field: 'user_id', operator: 'equals', value: 'taken' }
        await makeDestination(server, 'all', all.url)
        await makeDestination(server, 'some', some.url, { filter_rules: { groups: [{ rules: [rule] }] } })
        // Nothing listens there.
        await makeDestination(server, 'dead', 'http://127.0.0.1:9/')
      }
      answered.push(...(await loadAndKill(server, 20 + 150 * (kill % 4))))
    }
    const last = await startServer(folder, { env: ENV })
    const rows = rowsOf(folder)
    const ids = rows.map(({ id }) => id)
    const taken = rows.filter(({ user }) => user === 'taken').map(({ id }) => id)
    expect(answered.filter((id) => !ids.includes(id))).toEqual([])
    expect(taken.length).toBeWithin(1, ids.length)
    await untilArrived(all, ids)
    await untilArrived(some, taken)
    expect(await last.stop()).toBe(0)
    expect([...some.accepted().keys()].filter((id) => !taken.includes(id))).toEqual([])
    expect([...all.accepted().keys()].filter((id) => !ids.includes(id))).toEqual([])
    expect(verifyFolder(folder).differences).toEqual([])
    const repeated = [...all.accepted().values()].filter((times) => times > 1).length
    process.stdout.write(
      `${KILLS} kills, ${answered.length} answers, ${ids.length} settled: ${all.accepted().size} and ${some.accepted().size} arrived, ${repeated} more than once\n`,
    )
  })
}, 3_600_000)
