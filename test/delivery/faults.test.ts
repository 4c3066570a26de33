import { beforeEach, describe, expect, test } from 'bun:test'
import type { DestinationKind } from '../../src/exporters/kind.ts'
import { webhook } from '../../src/exporters/kinds/webhook.ts'
import { startVendor } from './vendor.ts'
import { createWorld } from './world.ts'

const vendor = startVendor()
const healthy = startVendor()
beforeEach(() => {
  for (const each of [vendor, healthy]) {
    each.seen.splice(0)
    each.accepted().clear()
    each.answer(() => new Response())
  }
})

/** How often each of these was accepted. */
const times = (ids: readonly string[], of = vendor): number[] => ids.map((id) => of.accepted().get(id) ?? 0)
const once = (ids: readonly string[]): number[] => ids.map(() => 1)
const json = (body: object, status = 200) => Response.json(body, { status })
/** Sends records as they are. */
const plain: DestinationKind = {
  ...webhook,
  batchOf: (records, { config }) => [
    { url: config.fields['url'] ?? '', method: 'POST', headers: {}, body: JSON.stringify(records) },
  ],
}
const HOUR = 3_600_000
const CONTENT = {
  input: { prompt: 'x'.repeat(20_000) },
  output: { completion: 'an answer', reasoning: null },
  tools: null,
}

test('a destination that answers gets every generation once, in order, in batches', async () => {
  const world = createWorld()
  world.setLanes(['a', vendor.url])
  const ids = world.settle(250)
  await world.pass(5_000)
  expect(times(ids)).toEqual(once(ids))
  expect(vendor.seen.map((seen) => seen.ids.length)).toEqual([100, 100, 50])
  expect(vendor.seen.flatMap((seen) => seen.ids)).toEqual(ids)
  expect(world.totals('a')).toMatchObject({ sent: 250, failed: 0, dropped: {}, waiting: 0 })
})

test('a partial success counts the refused ones and goes on', async () => {
  vendor.answer(() => json({ partialSuccess: { rejectedSpans: '5', errorMessage: 'canary of the vendor' } }))
  const world = createWorld()
  world.setLanes(['a', vendor.url])
  const ids = world.settle(10)
  await world.pass(5_000)
  expect(vendor.seen).toHaveLength(1)
  expect(times(ids)).toEqual(once(ids))
  const { sent, failed, lastError } = world.totals('a')
  // Of four spans each.
  expect([sent, failed]).toEqual([8, 2])
  expect(lastError).not.toContain('canary')
})

test('a 207 is an acceptance', async () => {
  vendor.answer(() => new Response('', { status: 207 }))
  const world = createWorld()
  world.setLanes(['a', vendor.url])
  world.settle(5)
  await world.pass(5_000)
  expect(world.totals('a')).toMatchObject({ sent: 5, failed: 0 })
})

test('one event of a hundred that is refused is set aside, alone, and the others arrive once', async () => {
  const world = createWorld()
  let bad = ''
  vendor.answer(({ ids }) => new Response('canary', { status: ids.includes(bad) ? 400 : 200 }))
  world.setLanes(['a', vendor.url])
  const ids = world.settle(100)
  bad = ids[41] ?? ''
  await world.pass(10_000)
  const others = ids.filter((id) => id !== bad)
  expect(times(others)).toEqual(once(others))
  expect(vendor.accepted().has(bad)).toBe(false)
  expect(world.totals('a')).toMatchObject({
    sent: 99,
    failed: 1,
    setAside: [{ generationId: bad, status: 400, message: expect.stringContaining('400') }],
    waiting: 0,
  })
  // Halves: twice the depth of the tree, and the first request.
  expect(vendor.seen.length).toBeLessThanOrEqual(15)
})

describe.each([401, 403, 404, 302])('a status of %i', (status) => {
  test('pauses the destination, until it is changed', async () => {
    vendor.answer(() => new Response(null, { status, headers: { location: 'http://169.254.169.254/' } }))
    const world = createWorld()
    world.setLanes(['a', vendor.url])
    const ids = world.settle(10)
    await world.pass(HOUR)
    expect(vendor.seen).toHaveLength(1)
    expect(world.totals('a')).toMatchObject({
      sent: 0,
      failed: 0,
      standing: 'paused',
      lastError: expect.stringContaining(String(status)),
    })
    vendor.answer(() => new Response())
    world.setLanes(['a', `${vendor.url}/changed`])
    await world.pass(5_000)
    expect(times(ids)).toEqual(once(ids))
    expect(vendor.seen.at(-1)?.path).toBe('/changed')
    expect(world.totals('a')).toMatchObject({ sent: 10, standing: 'delivering' })
  })
})

test('a successful test ends a pause as well', async () => {
  vendor.answer(() => new Response(null, { status: 401 }))
  const world = createWorld()
  world.setLanes(['a', vendor.url])
  const ids = world.settle(3)
  await world.pass(5_000)
  vendor.answer(() => new Response())
  world.engine.resume('a')
  await world.pass(1_000)
  expect(times(ids)).toEqual(once(ids))
})

test('413 halves the batch; what is too large alone is sent without its content', async () => {
  const sizes: number[] = []
  vendor.answer(({ ids, text }) => {
    sizes.push(ids.length)
    return new Response(null, { status: ids.length > 2 || text.includes('xxxx') ? 413 : 200 })
  })
  const world = createWorld({ kind: plain })
  world.setLanes(['a', vendor.url])
  const ids = world.settle(4, { content: CONTENT })
  await world.pass(10_000)
  expect(times(ids)).toEqual(once(ids))
  expect(sizes.filter((size) => size === 1)).toHaveLength(8)
  expect(world.totals('a')).toMatchObject({ sent: 4, failed: 0, dropped: {} })
})

test('what is too large without its content is dropped by name', async () => {
  vendor.answer(() => new Response(null, { status: 413 }))
  const world = createWorld()
  world.setLanes(['a', vendor.url])
  world.settle(2)
  await world.pass(10_000)
  expect(world.totals('a')).toMatchObject({ sent: 0, failed: 0, dropped: { too_large: 2 }, waiting: 0 })
})

test('an event beyond the limit of the kind is sent without its content, unasked', async () => {
  const kind = { ...plain, limits: { ...plain.limits, recordBytes: 16_000 } }
  const world = createWorld({ kind })
  world.setLanes(['a', vendor.url])
  const ids = world.settle(1, { content: CONTENT })
  await world.pass(5_000)
  expect(times(ids)).toEqual([1])
  expect(vendor.seen).toHaveLength(1)
  expect(vendor.seen[0]?.text).toContain('"contentMissing":"full"')
  expect(vendor.seen[0]?.text).not.toContain('xxxx')
})

test.each([
  ['seconds', () => '120'],
  ['a date', (now: number) => new Date(now + 120_000).toUTCString()],
])('429 with Retry-After as %s is tried again then, and not before', async (_form, value) => {
  const world = createWorld()
  const header = value(world.clock.now() + 1_000)
  vendor.answer(() => new Response(null, { status: 429, headers: { 'retry-after': header } }))
  world.setLanes(['a', vendor.url])
  const ids = world.settle(5)
  await world.pass(110_000)
  expect(vendor.seen).toHaveLength(1)
  expect(world.totals('a')).toMatchObject({ standing: 'retrying' })
  vendor.answer(() => new Response())
  await world.pass(15_000)
  expect(times(ids)).toEqual(once(ids))
})

test('500 for an hour: tried again ever less often, at least every five minutes; then all arrive once', async () => {
  vendor.answer(() => new Response(null, { status: 500 }))
  const world = createWorld()
  world.setLanes(['a', vendor.url], ['b', healthy.url])
  const ids = world.settle(150)
  await world.pass(HOUR)
  // 2 + 4 + … + 256 seconds, then every 300 seconds.
  expect(vendor.seen.length).toBeWithin(17, 23)
  // The other destination does not wait for it.
  expect(times(ids, healthy)).toEqual(once(ids))
  const more = world.settle(50)
  vendor.answer(() => new Response())
  await world.pass(310_000)
  expect(times([...ids, ...more])).toEqual(once([...ids, ...more]))
  expect(world.totals('a')).toMatchObject({ sent: 200, failed: 0, dropped: {}, standing: 'delivering' })
})

test('a bad hour that is longer than the bound of age drops the oldest, by name', async () => {
  vendor.answer(() => new Response(null, { status: 503 }))
  const world = createWorld({ maxAgeMs: HOUR })
  world.setLanes(['a', vendor.url])
  world.settle(30)
  await world.pass(0.9 * HOUR)
  const young = world.settle(20)
  await world.pass(0.2 * HOUR)
  expect(world.totals('a')).toMatchObject({ sent: 0, dropped: { age: 30 }, waiting: 20 })
  vendor.answer(() => new Response())
  await world.pass(310_000)
  expect(times(young)).toEqual(once(young))
  expect(world.totals('a')).toMatchObject({ sent: 20, dropped: { age: 30 }, waiting: 0 })
})

test('a backlog beyond the bound of bytes drops the oldest, by name, also while the destination is paused', async () => {
  vendor.answer(() => new Response(null, { status: 401 }))
  // Each generation has 400 bytes here.
  const world = createWorld({ maxBytes: 64 * 10 * 400 })
  world.setLanes(['a', vendor.url])
  world.settle(64 * 25)
  await world.pass(5_000)
  const { dropped, waiting } = world.totals('a')
  expect([dropped['bytes'], waiting]).toEqual([64 * 15, 64 * 10])
})

test('what is older than the kind takes is dropped by name', async () => {
  const world = createWorld({ kind: { ...webhook, limits: { ...webhook.limits, oldestMs: 24 * HOUR } } })
  world.setLanes(['a', vendor.url])
  world.settle(3, { endedAt: world.clock.now() - 25 * HOUR })
  const ids = world.settle(2)
  await world.pass(5_000)
  expect(times(ids)).toEqual(once(ids))
  expect(world.totals('a')).toMatchObject({ sent: 2, dropped: { too_old: 3 } })
})

test('clock steps: nothing is lost, repeated or stuck', async () => {
  const world = createWorld()
  world.setLanes(['a', vendor.url])
  const first = world.settle(5)
  world.clock.step(-2 * HOUR)
  await world.pass(5_000)
  const second = world.settle(5)
  world.clock.step(5 * HOUR)
  await world.pass(5_000)
  const ids = [...first, ...second]
  expect(times(ids)).toEqual(once(ids))
  expect(world.totals('a')).toMatchObject({ sent: 10, dropped: {} })
})
