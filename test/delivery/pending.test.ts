import { beforeEach, expect, test } from 'bun:test'
import type { DestinationCall, DestinationKind } from '../../src/exporters/kind.ts'
import { snowflake } from '../../src/exporters/kinds/snowflake.ts'
import { CONFIGS } from '../exporters/configs.ts'
import { startVendor } from './vendor.ts'
import { createWorld } from './world.ts'

const vendor = startVendor()
const HANDLE = '01b2c3d4-0000-1111-2222-333344445555'
let called: string[] = []
beforeEach(() => {
  called = []
  vendor.seen.splice(0)
  vendor.accepted().clear()
})

/** Snowflake's calls, to the loopback. */
const here = (call: DestinationCall): DestinationCall => {
  const { pathname, search } = new URL(call.url)
  called.push(`${call.method} ${pathname}${search}`)
  return { ...call, url: `${vendor.url}${pathname}${search}` }
}
const kind: DestinationKind = {
  ...snowflake,
  batchOf: async (records, context) => (await snowflake.batchOf(records, context)).map(here),
  meaningOf(reply, context) {
    const meaning = snowflake.meaningOf?.(reply, context)
    if (meaning === undefined) throw new Error('no meaning')
    return meaning.outcome === 'pending' ? { ...meaning, next: here(meaning.next) } : meaning
  },
}
const working = () => Response.json({ code: '333334', statementHandle: HANDLE }, { status: 202 })
const config = { fields: CONFIGS.snowflake, headers: null }

test('a statement that takes longer is asked for until it is done, and its rows are counted then, once', async () => {
  let answers = 0
  vendor.answer(() => (++answers <= 3 ? working() : Response.json({ code: '090001' })))
  const world = createWorld({ kind })
  world.setLanes(['a', vendor.url, { type: 'snowflake', config }])
  const ids = world.settle(3)
  await world.pass(5_000)
  expect(world.totals('a').sent).toBe(0)
  await world.pass(10_000)
  const [begun, ...asked] = called
  expect(begun).toMatch(/^POST \/api\/v2\/statements\?requestId=[0-9a-f-]{36}(&retry=true)?$/)
  expect(asked).toEqual(Array(3).fill(`GET /api/v2/statements/${HANDLE}`))
  expect(ids.map((id) => vendor.accepted().get(id))).toEqual([1, 1, 1])
  expect(world.totals('a')).toMatchObject({ sent: 3, failed: 0, standing: 'delivering', waiting: 0 })
})

test('a statement whose outcome cannot be read is repeated by the same id, which says that it is a repeat', async () => {
  let answers = 0
  vendor.answer(({ ids }) => {
    answers += 1
    if (answers === 1) return working()
    return ids.length === 0 ? new Response(null, { status: 503 }) : Response.json({ code: '090001' })
  })
  const world = createWorld({ kind })
  world.setLanes(['a', vendor.url, { type: 'snowflake', config }])
  world.settle(3)
  await world.pass(60_000)
  const [first = '', asked, again = ''] = called
  expect(asked).toBe(`GET /api/v2/statements/${HANDLE}`)
  expect(again).toBe(`${first.replace('&retry=true', '')}&retry=true`)
  expect(called).toHaveLength(3)
  expect(world.totals('a')).toMatchObject({ sent: 3, failed: 0 })
})
