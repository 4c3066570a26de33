import { expect, test } from 'bun:test'
import { startVendor } from '../delivery/vendor.ts'
import { chatBody, startForExport } from './export-setup.ts'

const vendor = startVendor()
const { gateway, makeDestination } = await startForExport({
  delivers: true,
  environment: { SLUICE_OUTBOUND_ALLOW: '127.0.0.1' },
})

async function until(holds: () => boolean): Promise<void> {
  const end = performance.now() + 10_000
  while (!holds() && performance.now() < end) await Bun.sleep(10)
  expect(holds()).toBe(true)
}

test('what was settled before a destination existed is not sent to it; what is settled then is, once', async () => {
  await gateway.call('/chat/completions', chatBody())
  await makeDestination({ config: { url: `${vendor.url}/in` } })
  const reply = await gateway.call('/chat/completions', chatBody())
  const generation = reply.headers.get('x-generation-id') ?? ''
  await until(() => vendor.seen.length > 0)
  expect(vendor.seen.map(({ ids }) => ids)).toEqual([[generation]])
})
