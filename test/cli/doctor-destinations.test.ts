import { afterEach, expect, test } from 'bun:test'
import { startVendor } from '../delivery/vendor.ts'
import { BOOTSTRAP, inFolder, killServers, sluice, startServer } from './process.ts'

afterEach(killServers)

const vendor = startVendor()
const env = { ...BOOTSTRAP, SLUICE_OUTBOUND_ALLOW: '127.0.0.1' }

test('doctor --destinations sends a test event to each enabled one; without the flag to none', async () => {
  await inFolder(async (folder) => {
    const server = await startServer(folder, { env })
    const destinations = [
      { name: 'works', config: { url: `${vendor.url}/works` } },
      { name: 'refuses', config: { url: `${vendor.url}/refuses` } },
      { name: 'off', config: { url: `${vendor.url}/off` }, enabled: false },
    ]
    for (const destination of destinations) {
      const reply = await fetch(`${server.url}/api/v1/observability/destinations`, {
        method: 'POST',
        headers: {
          authorization: `Bearer ${BOOTSTRAP.SLUICE_MANAGEMENT_KEY}`,
          'content-type': 'application/json',
        },
        body: JSON.stringify({ type: 'webhook', ...destination }),
      })
      expect(reply.status).toBe(201)
    }
    await server.stop()
    vendor.answer(({ path }) => new Response('canary', { status: path === '/refuses' ? 401 : 200 }))
    await sluice(['doctor', '--data', folder], { env })
    expect(vendor.seen).toEqual([])
    const { exitCode, stdout } = await sluice(['doctor', '--destinations', '--data', folder], { env })
    expect(vendor.seen.map(({ path }) => path).sort()).toEqual(['/refuses', '/works'])
    expect(stdout).toMatch(/ok +destination works \(webhook\): .* accepted/)
    expect(stdout).toMatch(/problem +destination refuses \(webhook\): .* 401/)
    expect(stdout).not.toContain('canary')
    expect(exitCode).toBe(1)
  })
}, 60_000)
