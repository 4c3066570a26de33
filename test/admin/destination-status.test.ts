import { beforeEach, describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { objectOf } from '../../src/http/json.ts'
import { startVendor } from '../delivery/vendor.ts'
import { administration } from './administration.ts'
import { DESTINATIONS, makeDestination } from './destinations.ts'
import { dataOf } from './people.ts'

const vendor = startVendor()
const admin = administration({ delivers: true, environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1' } })
beforeEach(() => {
  vendor.seen.splice(0)
  vendor.answer(() => new Response())
})

const hook = (fields: object = {}) =>
  makeDestination(admin, { config: { url: `${vendor.url}/in` }, ...fields })
const ask = async (): Promise<string> => {
  const body = { model: 'sluice/demo', messages: [{ role: 'user', content: 'Hi' }] }
  const reply = await admin.gateway.call('/chat/completions', body)
  await reply.text()
  return reply.headers.get('x-generation-id') ?? ''
}
const statusOf = async (id: unknown) => dataOf(await admin.manage('GET', `${DESTINATIONS}/${id}/status`))

/** Waits for work of another thread. */
async function until(holds: () => Promise<boolean> | boolean): Promise<void> {
  const end = performance.now() + 15_000
  while (!(await holds())) {
    if (performance.now() > end) throw new Error('it did not happen')
    await Bun.sleep(20)
  }
}
const audited = async (id: unknown): Promise<string[]> => {
  const { data } = objectOf((await admin.manage('GET', `/audit-log?resource_id=${id}`)).json)
  return Array.isArray(data) ? data.map((entry) => String(objectOf(entry)['action'])) : []
}

test('counts what was sent, and when', async () => {
  const { id } = await hook()
  expect(await statusOf(id)).toMatchObject({ state: 'delivering', sent: 0, lag: { generations: 0 } })
  await ask()
  await until(async () => (await statusOf(id))['sent'] === 1)
  expect(await statusOf(id)).toMatchObject({
    state: 'delivering',
    paused_since: null,
    lag: { generations: 0, seconds: 0 },
    queued_bytes: 0,
    failed: 0,
    dropped: {},
    last_success_at: expect.any(String),
    last_error: null,
    replay: null,
  })
  await admin.manage('DELETE', `${DESTINATIONS}/${id}`)
})

test('a refused credential pauses it, which it shows; a successful test ends the pause', async () => {
  vendor.answer(() => new Response('canary', { status: 401 }))
  const { id } = await hook()
  await ask()
  await until(async () => (await statusOf(id))['state'] === 'paused')
  const shown = dataOf(await admin.manage('GET', `${DESTINATIONS}/${id}`))
  expect(shown['pause_reason']).toContain('401')
  expect(String(shown['pause_reason'])).not.toContain('canary')
  vendor.answer(() => new Response())
  await admin.manage('POST', `${DESTINATIONS}/${id}/test`)
  await until(async () => (await statusOf(id))['sent'] === 1)
  expect(await audited(id)).toEqual(['destination.resume', 'destination.pause', 'destination.create'])
  await admin.manage('DELETE', `${DESTINATIONS}/${id}`)
})

test('a generation that is refused is listed with status and sentence, and the next one is sent', async () => {
  const { id } = await hook()
  vendor.answer(() => new Response('canary', { status: 422 }))
  const refused = await ask()
  await until(async () => (await statusOf(id))['failed'] === 1)
  const reply = await admin.manage('GET', `${DESTINATIONS}/${id}/failed`)
  expect(reply.json).toMatchObject({
    data: [{ generation_id: refused, status: 422, message: expect.stringContaining('422') }],
    total_count: 1,
  })
  expect(reply.text).not.toContain('canary')
  await admin.manage('DELETE', `${DESTINATIONS}/${id}`)
})

test('what waits can be discarded, which is counted', async () => {
  vendor.answer(() => new Response(null, { status: 503, headers: { 'retry-after': '200' } }))
  const { id } = await hook()
  await ask()
  await ask()
  await until(async () => (await statusOf(id))['state'] === 'retrying')
  await admin.manage('POST', `${DESTINATIONS}/${id}/discard`)
  await until(async () => objectOf((await statusOf(id))['dropped'])['discarded'] === 2)
  expect(await statusOf(id)).toMatchObject({ sent: 0, lag: { generations: 0 } })
  await until(async () => (await audited(id)).includes('destination.drop'))
  expect(await audited(id)).toContain('destination.discard')
  await admin.manage('DELETE', `${DESTINATIONS}/${id}`)
})

describe('a replay', () => {
  const now = () => new Date().toISOString()

  test('delivers what was settled before the destination existed, once', async () => {
    const from = now()
    const ids = [await ask(), await ask()]
    const { id } = await hook()
    const reply = await admin.manage('POST', `${DESTINATIONS}/${id}/replay`, {
      from,
      to: '2099-01-01T00:00:00Z',
    })
    expect([reply.status, dataOf(reply)['replay']]).toMatchObject([200, { from, state: 'running' }])
    await until(async () => objectOf((await statusOf(id))['replay'])['state'] === 'done')
    expect(vendor.seen.flatMap((seen) => seen.ids)).toEqual(ids)
    expect(await statusOf(id)).toMatchObject({ sent: 2, replay: { generations: 2 } })
    await admin.manage('DELETE', `${DESTINATIONS}/${id}`)
  })

  test('can be cancelled, and only one runs', async () => {
    vendor.answer(() => new Response(null, { status: 503 }))
    const from = now()
    await ask()
    const { id } = await hook()
    const path = `${DESTINATIONS}/${id}/replay`
    expect((await admin.manage('DELETE', path)).status).toBe(409)
    expect((await admin.manage('POST', path, { from, to: '2099-01-01T00:00:00Z' })).status).toBe(200)
    const second = await admin.manage('POST', path, { from, to: '2099-01-01T00:00:00Z' })
    expect([second.status, second.text]).toEqual([409, expect.stringContaining('cancel it first')])
    expect(dataOf(await admin.manage('DELETE', path))['replay']).toMatchObject({ state: 'cancelled' })
    await admin.manage('DELETE', `${DESTINATIONS}/${id}`)
  })

  test.each([
    [{ from: 'yesterday', to: '2026-01-01T00:00:00Z' }, 400, 'from'],
    [{ from: '2026-01-02T00:00:00Z', to: '2026-01-01T00:00:00Z' }, 400, 'before to'],
    [{ from: '2026-01-02T00:00:00Z' }, 400, 'to'],
  ])('of %p is refused', async (body, status, words) => {
    const { id } = await hook()
    const reply = await admin.manage('POST', `${DESTINATIONS}/${id}/replay`, body)
    expect([reply.status, reply.text]).toEqual([status, expect.stringContaining(words)])
  })

  test('of generations too old for the destination, or of a disabled one, is a 409 that says why', async () => {
    const config = { apiKey: 'key-0123456789', mlApp: 'a' }
    const range = { from: '2026-01-01T00:00:00Z', to: '2026-01-02T00:00:00Z' }
    const { id } = await makeDestination(admin, { type: 'datadog', config })
    const old = await admin.manage('POST', `${DESTINATIONS}/${id}/replay`, range)
    expect([old.status, old.text]).toEqual([409, expect.stringContaining('nothing that is older than')])
    const { id: disabled } = await hook({ enabled: false })
    const off = await admin.manage('POST', `${DESTINATIONS}/${disabled}/replay`, range)
    expect([off.status, off.text]).toEqual([409, expect.stringContaining('enable it first')])
  })
})

test('a webhook is signed with a secret that is shown once, and replaced with an overlap', async () => {
  const { id, signing_secret: first } = await hook()
  const renewed = dataOf(await admin.manage('POST', `${DESTINATIONS}/${id}/secret`))
  expect(renewed).toEqual({
    signing_secret: expect.stringMatching(/^whsec_/),
    former_valid_until: expect.any(String),
  })
  const again = await admin.manage('GET', `${DESTINATIONS}/${id}`)
  for (const secret of [first, renewed['signing_secret']]) expect(again.text).not.toContain(String(secret))
  await admin.manage('PATCH', `${DESTINATIONS}/${id}`, { config: { url: `${vendor.url}/moved` } })
  await ask()
  // Destinations of other tests are there as well.
  const moved = () => vendor.seen.find(({ path }) => path === '/moved')
  await until(() => moved() !== undefined)
  const seen = moved()
  const signed = `${seen?.headers.get('webhook-id')}.${seen?.headers.get('webhook-timestamp')}.${seen?.text}`
  const signatureWith = (secret: unknown) =>
    `v1,${createHmac('sha256', Buffer.from(String(secret).slice('whsec_'.length), 'base64'))
      .update(signed)
      .digest('base64')}`
  expect(seen?.headers.get('webhook-signature')?.split(' ')).toEqual([
    signatureWith(renewed['signing_secret']),
    signatureWith(first),
  ])
  const other = await makeDestination(admin, {
    type: 'datadog',
    config: { apiKey: 'key-0123456789', mlApp: 'a' },
  })
  expect((await admin.manage('POST', `${DESTINATIONS}/${other['id']}/secret`)).status).toBe(400)
})
