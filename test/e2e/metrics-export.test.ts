import { afterAll, expect, test } from 'bun:test'
import { configFor } from '../admin/destinations.ts'
import { readExposition, sampleText } from '../metrics/exposition.ts'
import { unary } from '../upstream.ts'
import { chatBody, startForExport } from './export-setup.ts'

/** Deliveries to destinations, as /metrics shows them. */

const tool = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => new Response('{}', { status: new URL(request.url).pathname === '/down' ? 500 : 200 }),
})
afterAll(() => tool.stop(true))

const { gateway, makeDestination, upstream } = await startForExport({
  delivers: true,
  environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1' },
})

const scrape = async () =>
  readExposition((await gateway.deps.metrics.scrape?.('prometheus')) ?? '', 'prometheus')

test('one that answers has been sent the generation; one that fails has it in its queue', async () => {
  for (const name of ['up', 'down'])
    await makeDestination({
      name,
      type: 'webhook',
      config: { ...configFor('webhook'), url: `http://127.0.0.1:${tool.port}/${name}` },
    })
  upstream.on('lab-tiny', unary('Hello'))
  const reply = await gateway.call('/chat/completions', chatBody({ provider: { only: ['lab'] } }))
  expect(reply.status).toBe(200)
  await reply.text()
  const sent = async () => sampleText(await scrape(), 'sluice_export_sent_total', { destination: 'up' })
  while ((await sent()) !== '1') await Bun.sleep(20)
  const found = await scrape()
  const of = (name: string, destination: string) =>
    sampleText(found, `sluice_export_${name}`, { destination, type: 'webhook' })
  expect([of('failed_total', 'up'), of('queued_bytes', 'up'), of('lag_seconds', 'up')]).toEqual([
    '0',
    '0',
    '0',
  ])
  expect([of('sent_total', 'down'), of('failed_total', 'down')]).toEqual(['0', '0'])
  expect(Number(of('queued_bytes', 'down'))).toBeGreaterThan(0)
})
