import { afterAll, describe, expect, test } from 'bun:test'
import { configFor } from '../admin/destinations.ts'
import { ADDRESSES } from '../exporters/address-fields.ts'
import { chatBody, startForExport } from './export-setup.ts'

/** What arrived for each kind: the path's first name is the kind. */
const arrived = new Map<string, string>()
const tools = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  async fetch(request) {
    const [, kind = ''] = new URL(request.url).pathname.split('/')
    const bytes = await request.bytes()
    const isPacked = bytes[0] === 0x1f && bytes[1] === 0x8b
    arrived.set(kind, Buffer.from(isPacked ? Bun.gunzipSync(bytes) : bytes).toString())
    return new Response('{}')
  },
})
afterAll(() => tools.stop(true))

const { gateway, makeDestination } = await startForExport({
  delivers: true,
  environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1' },
})

const kinds = Object.keys(ADDRESSES)

describe('one generation', async () => {
  for (const [type, field] of Object.entries(ADDRESSES)) {
    const config = { ...configFor(type), [field]: `http://127.0.0.1:${tools.port}/${type}` }
    await makeDestination({ name: type, type, config })
  }
  const reply = await gateway.call('/chat/completions', chatBody({ session_id: 'session-of-all' }))
  const generation = reply.headers.get('x-generation-id') ?? 'none'
  const end = performance.now() + 20_000
  while (arrived.size < kinds.length && performance.now() < end) await Bun.sleep(20)

  test.each(kinds)('reaches %s, with its id and session', (kind) => {
    const text = arrived.get(kind) ?? ''
    expect([text.includes(generation), text.includes('session-of-all')]).toEqual([true, true])
  })
})
