import { expect, test } from 'bun:test'
import { readSecretKey } from '../../src/db/seal.ts'
import { createDelivery, type Delivery } from '../../src/delivery/delivery.ts'
import { readDestinations } from '../../src/delivery/stored.ts'
import { prune } from '../../src/ledger/retention.ts'
import { startVendor } from '../delivery/vendor.ts'
import { chatBody, startForExport } from './export-setup.ts'

const vendor = startVendor()
const { gateway, makeDestination } = await startForExport()

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 15_000
  while (!holds() && performance.now() < end) await Bun.sleep(10)
  expect(holds()).toBe(true)
}

/** The delivery of a further process on the same files. */
function openDelivery(): Delivery {
  const { database, bodies, folder, deps } = gateway
  const secretKey = readSecretKey(folder)
  if (secretKey === undefined) throw new Error('no secret key')
  const onUnreadable = (_: string, error: unknown): never => {
    throw error
  }
  const delivery = createDelivery({
    database,
    now: Date.now,
    opening: {
      kind: 'open',
      ledger: database.path,
      bodies: bodies.path,
      secretKey,
      outboundAllow: ['127.0.0.1'],
      ownHost: null,
      maxAgeMs: 3_600_000,
      maxBytes: 1e9,
      service: { version: '0', instanceId: 'test' },
    },
    destinations: () => readDestinations({ database, sealer: deps.sealer, own: null, onUnreadable }),
    onEvent: () => {},
    forgetContents: () => {},
    onCrash: (error) => {
      throw error
    },
    onError: (error) => {
      throw error
    },
  })
  delivery.applyChanges()
  delivery.start()
  return delivery
}

/** More than two batches. */
const GENERATIONS = 250

test('a replay continues after a restart where it was, and none of it arrives twice', async () => {
  const from = Date.now()
  const replies = await Promise.all(
    Array.from({ length: GENERATIONS }, () => gateway.call('/chat/completions', chatBody())),
  )
  const ids = replies.map((reply) => reply.headers.get('x-generation-id') ?? '').sort()
  const id = await makeDestination({ config: { url: `${vendor.url}/in` } })
  // One batch arrives, and the second fails for as long as the first process lives.
  vendor.answer(() => new Response(null, { status: vendor.seen.length === 1 ? 200 : 503 }))
  const first = openDelivery()
  first.replay(id, { from, to: Date.now() + 1, position: from * 4096 - 1 })
  await until(() => vendor.seen.length >= 2)
  await first.close()
  expect(first.bookOf(id)?.row.replay).toMatchObject({ state: 'running', passed: 100 })

  vendor.answer(() => new Response())
  const second = openDelivery()
  expect(second.bookOf(id)?.row.replay).toMatchObject({ state: 'running', passed: 100 })
  await until(() => second.bookOf(id)?.row.replay?.state === 'done')
  await second.close()
  expect([...vendor.accepted().keys()].sort()).toEqual(ids)
  expect([...new Set(vendor.accepted().values())]).toEqual([1])
  expect(second.bookOf(id)?.row).toMatchObject({ sent: GENERATIONS, replay: { passed: GENERATIONS } })
})

test('a replay of what was deleted is a 409 that says from when there is something', async () => {
  const id = await makeDestination({ config: { url: `${vendor.url}/in` } })
  const { database, deps } = gateway
  const before = gateway.generations().length
  await Bun.sleep(2)
  const boundary = Date.now()
  const kept = await gateway.call('/chat/completions', chatBody())
  // Rows stay until they are in the sums.
  expect(deps.ledger.fold()).toBe(true)
  const { pruned } = await prune(database, {
    retention: { maxAgeMs: 1, maxBytes: null },
    now: () => boundary + 1,
    mayPrune: () => true,
    pause: async () => {},
  })
  expect(pruned).toBe(before)
  const [row] = gateway.generations()
  expect(row?.['id']).toBe(kept.headers.get('x-generation-id'))
  const reply = await gateway.manage('POST', `/observability/destinations/${id}/replay`, {
    from: new Date(boundary - 60_000).toISOString(),
    to: '2099-01-01T00:00:00Z',
  })
  const oldest = new Date(Number(row?.['created_at'])).toISOString()
  expect([reply.status, await reply.text()]).toEqual([409, expect.stringContaining(`began at ${oldest}`)])
  const rest = { from: oldest, to: '2099-01-01T00:00:00Z' }
  const allowed = await gateway.manage('POST', `/observability/destinations/${id}/replay`, rest)
  expect(allowed.status).toBe(200)
})
