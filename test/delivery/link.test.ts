import { expect, test } from 'bun:test'
import { createLink } from '../../src/delivery/link.ts'

test('a thread that fails is reported, is started again later, and ends when it is not wanted', async () => {
  const { promise, resolve } = Promise.withResolvers<number>()
  const link = createLink({
    opening: {
      kind: 'open',
      // It cannot be opened.
      ledger: '/nonexistent/sluice.db',
      bodies: '/nonexistent/bodies.db',
      secretKey: new Uint8Array(32),
      outboundAllow: [],
      ownHost: null,
      maxAgeMs: 1,
      maxBytes: 1,
      service: { version: '0', instanceId: 'test' },
    },
    lanes: () => ({ kind: 'lanes', lanes: [], changed: [] }),
    onReports: () => undefined,
    onCrash: (_error, retryMs) => resolve(retryMs),
  })
  link.start()
  expect(await promise).toBe(1_000)
  expect(link.post({ kind: 'wake' })).toBe(false)
  await link.stop(0)
})
